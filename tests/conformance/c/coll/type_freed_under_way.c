/* A user's operation gets a valid handle of the datatype also when the program has freed the datatype while the
 * operation is under way, and while a persistent request of it exists. */
#include "check.h"
#include <time.h>

enum { N = 5 };

static int calls, invalid;

/* Pairs of unsigned numbers, added. */
static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    MPI_Aint lower = -1, extent = -1;
    int code = MPI_Type_get_extent(*type, &lower, &extent), bytes = -1;
    calls++;
    invalid += code != MPI_SUCCESS || lower != 0 || extent != 3 * sizeof(unsigned);
    invalid += MPI_Type_size(*type, &bytes) != MPI_SUCCESS || bytes != 2 * sizeof(unsigned);
    for (int i = 0; i < *length; i++)
        for (int k = 0; k < 2; k++)
            ((unsigned *)inout)[3 * i + k] += ((unsigned *)in)[3 * i + k];
}

static MPI_Datatype pair_type(void)
{
    MPI_Datatype two, pair;
    ok(MPI_Type_contiguous(2, MPI_UNSIGNED, &two));
    ok(MPI_Type_create_resized(two, 0, 3 * sizeof(unsigned), &pair));
    ok(MPI_Type_commit(&pair));
    ok(MPI_Type_free(&two));
    return pair;
}

static void check_sums(const unsigned *sums)
{
    for (unsigned i = 0; i < N; i++)
        for (unsigned k = 0; k < 2; k++)
            check_equal(sums[3 * i + k], (unsigned)size * (i + k) + (unsigned)(size * (size - 1) / 2));
}

int main(int argc, char **argv)
{
    unsigned own[3 * N], sums[3 * N];
    MPI_Request request;
    MPI_Op op;
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    ok(MPI_Op_create(add, 0, &op));
    for (unsigned i = 0; i < 3 * N; i++)
        own[i] = i / 3 + i % 3 + (unsigned)rank;

    for (int round = 0; round < 5; round++) {
        MPI_Datatype pair = pair_type();
        /* The others wait for the data of this one. */
        if (rank == round % size)
            nanosleep(&(struct timespec){0, 20000000}, NULL);
        ok(MPI_Iallreduce(own, sums, N, pair, op, MPI_COMM_WORLD, &request));
        ok(MPI_Type_free(&pair));
        check(pair == MPI_DATATYPE_NULL);
        /* Handles of new types are others. */
        MPI_Datatype more = pair_type();
        ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check_sums(sums);
        ok(MPI_Type_free(&more));
    }

    MPI_Datatype pair = pair_type(), freed = pair;
    ok(MPI_Allreduce_init(own, sums, N, pair, op, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    ok(MPI_Type_free(&pair));
    ok(MPI_Op_free(&op));
    check_class(MPI_Type_free(&(MPI_Datatype){freed}), MPI_ERR_TYPE);
    for (int start = 0; start < 3; start++) {
        ok(MPI_Start(&request));
        ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check_sums(sums);
    }
    ok(MPI_Request_free(&request));
    /* The last request has gone, and the type with it. */
    int bytes;
    check_class(MPI_Type_size(freed, &bytes), MPI_ERR_TYPE);
    /* Which ranks combine is the library's choice. */
    int all = 0;
    ok(MPI_Allreduce(&(int){calls}, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    check(all > 0 || size == 1);
    check_equal(invalid, 0);
    return finish();
}
