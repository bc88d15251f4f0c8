/* Rank r sends 10 r messages of 8 bytes to rank 0, alone 5 to itself; with an argument the
 * last rank then kills itself. */
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size, die = argc > 1;
    double word = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; size == 1 && i < 5; i++)
        MPI_Sendrecv(&word, 1, MPI_DOUBLE, 0, 0, &word, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    for (int i = 0; i < 10 * rank; i++)
        MPI_Send(&word, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    for (int from = 1; rank == 0 && from < size; from++)
        for (int i = 0; i < 10 * from; i++)
            MPI_Recv(&word, 1, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (die && rank == size - 1)
        kill(getpid(), SIGKILL);
    MPI_Finalize();
    return 0;
}
