/* A process may send and finalise: its messages, of any size that a blocking send completes, are received while it
 * is in MPI_Finalize. */
#include "check.h"
#include <time.h>

enum { SHORT = 64, LONG = 8000 };

int main(int argc, char **argv)
{
    static unsigned char data[LONG];
    begin(&argc, &argv);
    if (rank == 0) {
        fill(data, SHORT, 1);
        ok(MPI_Send(data, SHORT, MPI_BYTE, 1, 1, MPI_COMM_WORLD));
        fill(data, LONG, 2);
        ok(MPI_Send(data, LONG, MPI_BYTE, 1, 2, MPI_COMM_WORLD));
        verdict(wrong);
    } else if (rank == 1) {
        struct timespec nap = {0, 100 * 1000 * 1000};
        nanosleep(&nap, NULL);
        ok(MPI_Recv(data, LONG, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        check(filled(data, LONG, 2));
        ok(MPI_Recv(data, SHORT, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        check(filled(data, SHORT, 1));
    }
    MPI_Finalize();
    return wrong != 0;
}
