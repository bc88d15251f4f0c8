/* A matched probe takes the message out of the queue: only MPI_Mrecv receives it, other receives get the next ones. */
#include "check.h"

enum { LARGE = 200000 };

int main(int argc, char **argv)
{
    static unsigned char data[LARGE];
    begin(&argc, &argv);
    if (rank == 0) {
        MPI_Request requests[4];
        static unsigned char out[4][LARGE];
        for (int i = 0; i < 4; i++) {
            fill(out[i], LARGE, i);
            ok(MPI_Isend(out[i], i % 2 ? LARGE : 50, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &requests[i]));
        }
        ok(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    } else if (rank == 1) {
        MPI_Message first, second;
        MPI_Status status;
        MPI_Request request;
        int flag = 0, count = -1;
        ok(MPI_Mprobe(0, 3, MPI_COMM_WORLD, &first, &status));
        MPI_Get_count(&status, MPI_BYTE, &count);
        check_equal(count, 50);
        while (!flag)
            ok(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &second, &status));
        MPI_Get_count(&status, MPI_BYTE, &count);
        check_equal(count, LARGE);
        /* The third message is received before the two that were matched. */
        ok(MPI_Recv(data, LARGE, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &status));
        check(filled(data, 50, 2));
        ok(MPI_Imrecv(data, LARGE, MPI_BYTE, &second, &request));
        check(second == MPI_MESSAGE_NULL);
        ok(MPI_Wait(&request, &status));
        check(filled(data, LARGE, 1));
        check_equal(status.MPI_TAG, 3);
        ok(MPI_Mrecv(data, LARGE, MPI_BYTE, &first, &status));
        check(first == MPI_MESSAGE_NULL);
        check(filled(data, 50, 0));
        ok(MPI_Recv(data, LARGE, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &status));
        check(filled(data, LARGE, 3));
        ok(MPI_Improbe(0, 3, MPI_COMM_WORLD, &flag, &first, &status));
        check_equal(flag, 0);
    }
    return finish();
}
