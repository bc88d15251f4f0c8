/* MPI_Abort of a communicator that holds only a part of the processes ends these; that the others end too is
 * allowed, and what happens here. */
#include "check.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Comm part;
    begin(&argc, &argv);
    ok(MPI_Comm_split(MPI_COMM_WORLD, rank == 0, 0, &part));
    if (rank == 1)
        MPI_Abort(part, 9);
    sleep(50);
    return 0;
}
