/* A reduction function may change the count and the datatype that it gets: they are its own copies. */
#include "check.h"

static int calls;

static void add(void *in, void *inout, int *count, MPI_Datatype *datatype)
{
    int *from = in, *to = inout;
    calls++;
    while ((*count)-- > 0)
        *to++ += *from++;
    *datatype = MPI_DATATYPE_NULL;
}

int main(int argc, char **argv)
{
    MPI_Op op;
    int own[100], sum[100];
    begin(&argc, &argv);
    for (int i = 0; i < 100; i++)
        own[i] = i + rank, sum[i] = i;
    ok(MPI_Op_create(add, 1, &op));
    ok(MPI_Reduce_local(own, sum, 100, MPI_INT, op));
    check_equal(calls, 1);
    for (int i = 0; i < 100; i++)
        check_equal(sum[i], 2 * i + rank);
    ok(MPI_Allreduce(own, sum, 100, MPI_INT, op, MPI_COMM_WORLD));
    for (int i = 0; i < 100; i++)
        check_equal(sum[i], size * i + size * (size - 1) / 2);
    ok(MPI_Op_free(&op));
    return finish();
}
