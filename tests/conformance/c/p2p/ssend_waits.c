/* A synchronous send of any size is not complete before its receive has started. */
#include "check.h"
#include <time.h>

int main(int argc, char **argv)
{
    int word = 5, flag = -1;
    begin(&argc, &argv);
    if (rank == 0) {
        MPI_Request request;
        ok(MPI_Issend(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &request));
        for (int i = 0; i < 200; i++) {
            struct timespec nap = {0, 100 * 1000};
            ok(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
            check_equal(flag, 0);
            nanosleep(&nap, NULL);
        }
        MPI_Send(NULL, 0, MPI_INT, 1, 2, MPI_COMM_WORLD);
        ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else if (rank == 1) {
        MPI_Recv(NULL, 0, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        ok(MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        check_equal(word, 5);
    }
    return finish();
}
