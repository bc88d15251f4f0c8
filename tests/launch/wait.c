/* Waits for a message that never comes. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int word;
    MPI_Init(&argc, &argv);
    MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
