/* Makes a successful call and a refused one of the same function, and ends without MPI_Finalize. */
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    return MPI_Send(NULL, 0, MPI_INT, 99, 0, MPI_COMM_WORLD) == MPI_SUCCESS ? 4 : 5;
}
