/* MPI_ERRORS_ABORT ends the processes of the communicator with a nonzero status. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ABORT);
    MPI_Bcast(NULL, 1, MPI_INT, -55, MPI_COMM_WORLD);
    printf("not reached\n");
    return 0;
}
