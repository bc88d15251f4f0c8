/* Operations without data that start while others are under way on the same communicator, and end before them, leave
 * these alone; also one whose arguments do not match, if the library compares them (coll_check). */
#include "check.h"

enum { COUNT = 9, LONG = 100000, OPERATIONS = 7 };

static int one[LONG], sum[LONG], other[LONG], more[8 * COUNT];

/* Starts an operation on so many elements. */
static void begin_one(int operation, int count, int *out, MPI_Comm comm, MPI_Request *request)
{
    switch (operation) {
    case 0:
        ok(MPI_Iallreduce(one, out, count, MPI_INT, MPI_SUM, comm, request));
        break;
    case 1:
        ok(MPI_Ibcast(out, count, MPI_INT, 0, comm, request));
        break;
    case 2:
        ok(MPI_Iallgather(one, count, MPI_INT, out, count, MPI_INT, comm, request));
        break;
    case 3:
        ok(MPI_Ialltoall(one, count, MPI_INT, out, count, MPI_INT, comm, request));
        break;
    case 4:
        ok(MPI_Ireduce(one, out, count, MPI_INT, MPI_SUM, 0, comm, request));
        break;
    case 5:
        ok(MPI_Igather(one, count, MPI_INT, out, count, MPI_INT, 0, comm, request));
        break;
    default:
        ok(MPI_Iscatter(one, count, MPI_INT, out, count, MPI_INT, 0, comm, request));
    }
}

static void check_sum(const int *values, int count)
{
    int differ = 0;
    for (int i = 0; i < count; i++)
        differ += values[i] != size * (i % 7 + 1);
    check_equal(differ, 0);
}

/* An operation without data between two with data. */
static void without_data(int first, int second, MPI_Comm comm)
{
    MPI_Request requests[3];
    memset(sum, 0, sizeof sum);
    begin_one(first, COUNT, first == 0 ? other : more, comm, &requests[0]);
    begin_one(second, 0, NULL, comm, &requests[1]);
    ok(MPI_Iallreduce(one, sum, COUNT, MPI_INT, MPI_SUM, comm, &requests[2]));
    if ((first + second) % 2)
        ok(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    ok(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    check_sum(sum, COUNT);
    if (first == 0)
        check_sum(other, COUNT);
}

/* A call that fails in all processes between two that go on. */
static void with_mismatch(MPI_Comm comm)
{
    MPI_Request requests[3];
    memset(sum, 0, sizeof sum);
    memset(other, 0, sizeof other);
    ok(MPI_Iallreduce(one, sum, LONG, MPI_INT, MPI_SUM, comm, &requests[0]));
    ok(MPI_Ibcast(more, COUNT, MPI_INT, rank == 1, comm, &requests[1]));
    ok(MPI_Iallreduce(one, other, COUNT, MPI_INT, MPI_SUM, comm, &requests[2]));
    check_class(MPI_Wait(&requests[1], MPI_STATUS_IGNORE), MPI_ERR_OTHER);
    ok(MPI_Wait(&requests[2], MPI_STATUS_IGNORE));
    ok(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    check_sum(sum, LONG);
    check_sum(other, COUNT);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    begin(&argc, &argv);
    const char *compared = getenv("FERRUM_COLL_CHECK");
    for (int i = 0; i < LONG; i++)
        one[i] = i % 7 + 1;
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    ok(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    /* With the first blocking operation the library may choose another way for all. */
    for (int blocking = 0; blocking < 2; blocking++) {
        for (int first = 0; first < OPERATIONS; first++)
            for (int second = 0; second < OPERATIONS; second++)
                without_data(first, second, comm);
        if (compared != NULL && strcmp(compared, "on") == 0 && size > 1)
            for (int i = 0; i < 5; i++)
                with_mismatch(comm);
        ok(MPI_Barrier(comm));
    }
    ok(MPI_Comm_free(&comm));
    return finish();
}
