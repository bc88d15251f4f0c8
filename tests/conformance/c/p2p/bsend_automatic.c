/* With MPI_BUFFER_AUTOMATIC attached the library allocates the room for buffered sends; detaching returns that
 * address. */
#include "check.h"

enum { MESSAGES = 50, LENGTH = 60000 };

int main(int argc, char **argv)
{
    static unsigned char data[LENGTH];
    begin(&argc, &argv);
    return_errors();
    if (rank == 0) {
        void *given = NULL;
        int back = -1;
        ok(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
        for (int i = 0; i < MESSAGES; i++) {
            fill(data, LENGTH, i);
            ok(MPI_Bsend(data, LENGTH, MPI_BYTE, 1, i, MPI_COMM_WORLD));
        }
        /* Nothing has been received yet; from here on it may be. */
        MPI_Send(NULL, 0, MPI_BYTE, 1, MESSAGES, MPI_COMM_WORLD);
        ok(MPI_Buffer_detach(&given, &back));
        check(given == MPI_BUFFER_AUTOMATIC);
        check_class(MPI_Bsend(data, LENGTH, MPI_BYTE, 1, MESSAGES + 1, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    } else if (rank == 1) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, MESSAGES, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = MESSAGES - 1; i >= 0; i--) {
            ok(MPI_Recv(data, LENGTH, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            check(filled(data, LENGTH, i));
        }
    }
    return finish();
}
