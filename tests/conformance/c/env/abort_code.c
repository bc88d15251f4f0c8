/* MPI_Abort ends all ranks of the job, one that waits for ever included, and its code is the launcher's exit status. */
#include "check.h"

int main(int argc, char **argv)
{
    int word;
    begin(&argc, &argv);
    if (rank == size - 1)
        MPI_Abort(MPI_COMM_WORLD, 42);
    MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("not reached\n");
    return 0;
}
