/* A duplicate has the same ranks, and messages on one never match receives on the other. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Comm other;
    int mine = -1, number = -1, value[2] = {-1, -1};
    begin(&argc, &argv);
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    ok(MPI_Comm_rank(other, &mine));
    ok(MPI_Comm_size(other, &number));
    check_equal(mine, rank);
    check_equal(number, size);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size, flag = 0;
    MPI_Request requests[2];
    ok(MPI_Irecv(&value[0], 1, MPI_INT, previous, 4, MPI_COMM_WORLD, &requests[0]));
    ok(MPI_Irecv(&value[1], 1, MPI_INT, previous, 4, other, &requests[1]));
    int a = 100 + rank, b = 200 + rank;
    ok(MPI_Send(&b, 1, MPI_INT, next, 4, other));
    ok(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    ok(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
    MPI_Barrier(other);
    check(!flag || value[0] == 100 + previous);
    ok(MPI_Send(&a, 1, MPI_INT, next, 4, MPI_COMM_WORLD));
    ok(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    check_equal(value[0], 100 + previous);
    check_equal(value[1], 200 + previous);
    ok(MPI_Comm_free(&other));
    check(other == MPI_COMM_NULL);
    return finish();
}
