/* MPI_Abort of a communicator of some of the processes ends these; the others continue. */
#include "check.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Comm part;
    begin(&argc, &argv);
    ok(MPI_Comm_split(MPI_COMM_WORLD, rank == 0, 0, &part));
    if (rank == 1)
        MPI_Abort(part, 9);
    if (rank == 2)
        pause();
    MPI_Finalize();
    return 0;
}
