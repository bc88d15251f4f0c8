/* Collective calls do not match messages on the same communicator, not even through wildcards; nor do collective
 * calls of two communicators. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Comm other;
    MPI_Request wild[2];
    int got[2] = {-1, -1};
    begin(&argc, &argv);
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    ok(MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &wild[0]));
    ok(MPI_Irecv(&got[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, other, &wild[1]));
    for (int i = 0; i < 200; i++) {
        int value = rank == i % size ? i : -1, sum[2] = {0, 0};
        ok(MPI_Bcast(&value, 1, MPI_INT, i % size, i % 2 ? other : MPI_COMM_WORLD));
        check_equal(value, i);
        ok(MPI_Allreduce(&value, &sum[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        ok(MPI_Reduce(&value, &sum[1], 1, MPI_INT, MPI_SUM, i % size, other));
        check_equal(sum[0], i * size);
        check(got[0] == -1 && got[1] == -1);
        ok(MPI_Barrier(i % 3 ? other : MPI_COMM_WORLD));
    }
    int to = (rank + 1) % size, from = (rank + size - 1) % size, here = 1000 + rank, there = 2000 + rank;
    MPI_Status statuses[2];
    ok(MPI_Send(&there, 1, MPI_INT, to, 7, other));
    ok(MPI_Send(&here, 1, MPI_INT, to, 6, MPI_COMM_WORLD));
    ok(MPI_Waitall(2, wild, statuses));
    check_equal(got[0], 1000 + from);
    check_equal(got[1], 2000 + from);
    check(statuses[0].MPI_TAG == 6 && statuses[1].MPI_TAG == 7 && statuses[1].MPI_SOURCE == from);
    ok(MPI_Comm_free(&other));
    return finish();
}
