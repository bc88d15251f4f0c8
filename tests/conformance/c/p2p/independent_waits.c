/* A rank that waits for one message still receives the others: two ranks that fill each other's queues before they
 * receive do not block for ever (within the buffering of small messages), and large messages are transferred once
 * both have posted. */
#include "check.h"

enum { MESSAGES = 3000, LENGTH = 400000 };

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int other = rank ^ 1, value = -1;
    if (rank < 2) {
        for (int i = 0; i < MESSAGES; i++)
            ok(MPI_Send(&i, 1, MPI_INT, other, i, MPI_COMM_WORLD));
        for (int i = MESSAGES - 1; i >= 0; i--) {
            ok(MPI_Recv(&value, 1, MPI_INT, other, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            check_equal(value, i);
        }
        unsigned char *out = malloc(LENGTH), *in = malloc(LENGTH);
        MPI_Request request;
        fill(out, LENGTH, rank);
        ok(MPI_Isend(out, LENGTH, MPI_BYTE, other, 1, MPI_COMM_WORLD, &request));
        ok(MPI_Recv(in, LENGTH, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check(filled(in, LENGTH, other));
        free(out), free(in);
    }
    return finish();
}
