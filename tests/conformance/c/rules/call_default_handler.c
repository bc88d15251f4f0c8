/* Calling the default handler of a communicator ends the job. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (rank == 0)
        MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER);
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}
