/* A message sent in buffered mode before MPI_Finalize is received, also by a receive that is posted much later. */
#include "check.h"
#include <time.h>

enum { MESSAGES = 20, LENGTH = 100000 };

int main(int argc, char **argv)
{
    static unsigned char data[LENGTH];
    begin(&argc, &argv);
    if (rank == 0) {
        int room = MESSAGES * (LENGTH + MPI_BSEND_OVERHEAD);
        ok(MPI_Buffer_attach(malloc((size_t)room), room));
        for (int i = 0; i < MESSAGES; i++) {
            fill(data, LENGTH, i);
            ok(MPI_Bsend(data, LENGTH, MPI_BYTE, 1, i, MPI_COMM_WORLD));
        }
        verdict(wrong);
    } else {
        struct timespec nap = {0, 100 * 1000 * 1000};
        nanosleep(&nap, NULL);
        for (int i = MESSAGES - 1; i >= 0; i--) {
            ok(MPI_Recv(data, LENGTH, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            check(filled(data, LENGTH, i));
        }
    }
    MPI_Finalize();
    return wrong != 0;
}
