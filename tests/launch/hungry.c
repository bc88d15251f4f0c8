/* Rank 1 allocates and uses more memory than the limit. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; rank == 1 && i < 1000; i++) {
        char *more = malloc(1 << 20);
        if (more != NULL)
            memset(more, 1, 1 << 20);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
