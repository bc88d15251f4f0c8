/* A receive that is truncated stores source, tag and count of the message in its status, in each of its forms, and
 * leaves the error field unchanged. */
#include "check.h"

enum { LARGEST = 200000, UNTOUCHED = 4711 };

static unsigned char data[LARGEST];

static MPI_Status blank(void)
{
    MPI_Status status;
    memset(&status, 0, sizeof status);
    status.MPI_SOURCE = status.MPI_TAG = status.MPI_ERROR = UNTOUCHED;
    return status;
}

static void check_status(int code, const MPI_Status *status, int tag, int room)
{
    int count = -1;
    check_class(code, MPI_ERR_TRUNCATE);
    check_equal(status->MPI_SOURCE, 0);
    check_equal(status->MPI_TAG, tag);
    check_equal(status->MPI_ERROR, UNTOUCHED);
    ok(MPI_Get_count(status, MPI_BYTE, &count));
    check_equal(count, room);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {8, 5000, LARGEST};
    begin(&argc, &argv);
    return_errors();
    for (int s = 0; s < 3; s++) {
        int length = lengths[s], room = length / 2;
        if (rank == 0) {
            MPI_Request requests[6];
            for (int tag = 0; tag < 6; tag++)
                ok(MPI_Isend(data, length, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &requests[tag]));
            /* This test does not check how the sends of truncated messages end. */
            MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
            ok(MPI_Recv(NULL, 0, MPI_BYTE, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            ok(MPI_Recv(NULL, 0, MPI_BYTE, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            ok(MPI_Recv(data, room, MPI_BYTE, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        } else if (rank == 1) {
            MPI_Message message;
            MPI_Status status = blank();
            int code = MPI_Recv(data, room, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &status);
            check_status(code, &status, 0, room);

            ok(MPI_Mprobe(0, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
            status = blank();
            code = MPI_Mrecv(data, room, MPI_BYTE, &message, &status);
            check_status(code, &status, 1, room);
            check(message == MPI_MESSAGE_NULL);

            MPI_Request request;
            ok(MPI_Mprobe(0, 4, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
            ok(MPI_Imrecv(data, room, MPI_BYTE, &message, &request));
            check(message == MPI_MESSAGE_NULL);
            status = blank();
            code = MPI_Wait(&request, &status);
            check_status(code, &status, 4, room);
            check(request == MPI_REQUEST_NULL);

            ok(MPI_Isendrecv(NULL, 0, MPI_BYTE, 0, 9, data, room, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &request));
            status = blank();
            code = MPI_Wait(&request, &status);
            check_status(code, &status, 5, room);

            status = blank();
            code = MPI_Sendrecv(NULL, 0, MPI_BYTE, 0, 9, data, room, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &status);
            check_status(code, &status, 2, room);

            status = blank();
            code = MPI_Sendrecv_replace(data, room, MPI_BYTE, 0, 9, 0, 3, MPI_COMM_WORLD, &status);
            check_status(code, &status, 3, room);
        }
    }
    return finish();
}
