/* Rank 0 reads a line; the others read the end of their input. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char line[100] = "";
    int rank, ended = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!fgets(line, sizeof line, stdin))
        ended = 1;
    if (rank == 0)
        printf("got %s", line);
    MPI_Finalize();
    return ended != (rank != 0);
}
