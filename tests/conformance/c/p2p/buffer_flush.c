/* MPI_Buffer_flush returns when all buffered messages have been sent: the whole buffer can be used again. */
#include "check.h"

enum { LENGTH = 100000 };

int main(int argc, char **argv)
{
    static unsigned char data[LENGTH];
    begin(&argc, &argv);
    if (rank == 0) {
        int room = LENGTH + MPI_BSEND_OVERHEAD;
        void *buffer = malloc((size_t)room);
        ok(MPI_Buffer_attach(buffer, room));
        for (int i = 0; i < 10; i++) {
            fill(data, LENGTH, i);
            ok(MPI_Bsend(data, LENGTH, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
            ok(MPI_Buffer_flush());
        }
        ok(MPI_Buffer_detach(&buffer, &room));
        free(buffer);
    } else if (rank == 1) {
        for (int i = 0; i < 10; i++) {
            ok(MPI_Recv(data, LENGTH, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            check(filled(data, LENGTH, i));
        }
    }
    return finish();
}
