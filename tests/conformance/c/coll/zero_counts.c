/* Collective calls without data succeed and access no buffer. */
#include "check.h"

int main(int argc, char **argv)
{
    int word = 5;
    begin(&argc, &argv);
    ok(MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD));
    ok(MPI_Reduce(&word, &word + 1, 0, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    ok(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    ok(MPI_Gather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD));
    ok(MPI_Scatter(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD));
    ok(MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD));
    ok(MPI_Alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD));
    check_equal(word, 5);
    return finish();
}
