/* A program that leaves after a call that was refused, and one of the same function that was not. */
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
