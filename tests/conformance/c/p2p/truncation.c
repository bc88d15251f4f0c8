/* A message longer than the receive is an error of class MPI_ERR_TRUNCATE at the receiver, expected or unexpected
 * and of any size; nothing is written beyond the buffer, and later messages arrive. */
#include "check.h"

enum { LARGEST = 3000000 };

int main(int argc, char **argv)
{
    static const int lengths[] = {2, 40, 5000, 100000, LARGEST};
    static unsigned char data[LARGEST];
    begin(&argc, &argv);
    return_errors();
    for (int s = 0; s < 5; s++)
        for (int expected = 0; expected < 2; expected++) {
            int length = lengths[s], room = length / 2;
            if (rank == 0) {
                fill(data, (size_t)length, s);
                if (expected)
                    MPI_Recv(NULL, 0, MPI_BYTE, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Request request;
                ok(MPI_Isend(data, length, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request));
                if (!expected)
                    MPI_Send(NULL, 0, MPI_BYTE, 1, 8, MPI_COMM_WORLD);
                /* This test does not check how the sender of a truncated message ends. */
                MPI_Wait(&request, MPI_STATUS_IGNORE);
                ok(MPI_Send(data, length, MPI_BYTE, 1, 2, MPI_COMM_WORLD));
            } else if (rank == 1) {
                MPI_Request request;
                memset(data, 0xee, sizeof data);
                if (!expected)
                    MPI_Recv(NULL, 0, MPI_BYTE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                ok(MPI_Irecv(data, room, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request));
                if (expected)
                    MPI_Send(NULL, 0, MPI_BYTE, 0, 9, MPI_COMM_WORLD);
                check_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
                check(request == MPI_REQUEST_NULL);
                for (int i = room; i < length; i++)
                    check(data[i] == 0xee);
                ok(MPI_Recv(data, length, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                check(filled(data, (size_t)length, s));
            }
        }
    return finish();
}
