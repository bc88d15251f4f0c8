/* With the default handler an error ends the job with a nonzero status while another rank waits; the text names the
 * call and the wrong value. */
#include "check.h"

int main(int argc, char **argv)
{
    int word = 0;
    begin(&argc, &argv);
    if (rank == 0)
        MPI_Send(&word, 1, MPI_INT, 987654, 0, MPI_COMM_WORLD);
    MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("not reached\n");
    return 0;
}
