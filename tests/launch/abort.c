/* Calls MPI_Abort with code 9. */
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Abort(MPI_COMM_WORLD, 9);
    return 0;
}
