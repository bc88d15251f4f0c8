/* Prints the microseconds of a barrier, the mean of a thousand. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 0; i < 1000; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.3f\n", (MPI_Wtime() - start) * 1e3);
    MPI_Finalize();
    return 0;
}
