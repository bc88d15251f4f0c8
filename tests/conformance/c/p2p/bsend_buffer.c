/* An attached buffer holds messages until they are received; detaching waits for that and returns the buffer;
 * without room, the send of a message that has to wait is an error of class MPI_ERR_BUFFER. */
#include "check.h"

enum { LENGTH = 1000, LARGE = 8000000 };

int main(int argc, char **argv)
{
    static unsigned char data[LENGTH];
    begin(&argc, &argv);
    return_errors();
    if (rank == 0) {
        int room = 3 * (LENGTH + MPI_BSEND_OVERHEAD), back = -1;
        char *buffer = malloc((size_t)room);
        void *given = NULL;
        static unsigned char large[LARGE];
        check_class(MPI_Bsend(large, LARGE, MPI_BYTE, 1, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
        ok(MPI_Buffer_attach(buffer, room));
        for (int round = 0; round < 20; round++)
            for (int i = 0; i < 3; i++) {
                fill(data, LENGTH, round * 3 + i);
                ok(MPI_Bsend(data, LENGTH, MPI_BYTE, 1, 1, MPI_COMM_WORLD));
                memset(data, 0, LENGTH);
                if (i == 2)
                    MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
        /* A message larger than the whole buffer never fits. */
        check_class(MPI_Bsend(large, LARGE, MPI_BYTE, 1, 1, MPI_COMM_WORLD), MPI_ERR_BUFFER);
        ok(MPI_Bsend(data, LENGTH, MPI_BYTE, 1, 3, MPI_COMM_WORLD));
        ok(MPI_Buffer_detach(&given, &back));
        check(given == (void *)buffer);
        check_equal(back, room);
        memset(buffer, 0xff, (size_t)room);
        free(buffer);
    } else if (rank == 1) {
        for (int i = 0; i < 60; i++) {
            ok(MPI_Recv(data, LENGTH, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            check(filled(data, LENGTH, i));
            if (i % 3 == 2)
                MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
        }
        ok(MPI_Recv(data, LENGTH, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    return finish();
}
