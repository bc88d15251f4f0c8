/* A token is sent around all processes, each adds its rank, and the first one checks the sum.
 *
 *   mpicc ring.c -o ring && mpiexec -n 4 ./ring
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, length;
    char host[MPI_MAX_PROCESSOR_NAME];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(host, &length);

    const int rounds = 1000, next = (rank + 1) % size, previous = (rank + size - 1) % size;
    long token = 0;
    double start = MPI_Wtime();
    for (int round = 0; round < rounds; round++) {
        if (rank == 0) {
            MPI_Sendrecv_replace(&token, 1, MPI_LONG, next, round, previous, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&token, 1, MPI_LONG, previous, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            token += rank;
            MPI_Send(&token, 1, MPI_LONG, next, round, MPI_COMM_WORLD);
        }
    }
    double each = (MPI_Wtime() - start) / rounds / size;

    int wrong = 0;
    if (rank == 0) {
        long expected = (long)rounds * size * (size - 1) / 2;
        wrong = token != expected;
        printf("ring of %d processes on %s: %d rounds, sum %ld (%s), %.2f us a hop\n", size, host, rounds, token,
               wrong ? "WRONG" : "correct", each * 1e6);
    }
    MPI_Finalize();
    return wrong;
}
