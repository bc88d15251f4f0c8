/* Rank 0 prints the size of the job after a collective call of all ranks, with an argument one that does not block. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1) {
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else
        MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("size %d\n", size);
    MPI_Finalize();
    return 0;
}
