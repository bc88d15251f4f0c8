/* All blocking send modes deliver the data, and the status holds source, tag and count. */
#include "check.h"

enum { LENGTH = 300 };

static void send(int mode, const int *data, int tag)
{
    switch (mode) {
    case 0: ok(MPI_Send(data, LENGTH, MPI_INT, 1, tag, MPI_COMM_WORLD)); break;
    case 1: ok(MPI_Ssend(data, LENGTH, MPI_INT, 1, tag, MPI_COMM_WORLD)); break;
    case 2: ok(MPI_Bsend(data, LENGTH, MPI_INT, 1, tag, MPI_COMM_WORLD)); break;
    default:
        /* The receiver reports that its receive is posted. */
        MPI_Recv(NULL, 0, MPI_INT, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        ok(MPI_Rsend(data, LENGTH, MPI_INT, 1, tag, MPI_COMM_WORLD));
    }
}

int main(int argc, char **argv)
{
    static int data[LENGTH];
    begin(&argc, &argv);
    int room = LENGTH * 4 + MPI_BSEND_OVERHEAD;
    void *buffer = malloc((size_t)room);
    ok(MPI_Buffer_attach(buffer, room));
    for (int mode = 0; mode < 4; mode++) {
        int tag = 10 + mode, count = -1;
        if (rank == 0) {
            fill(data, sizeof data, mode);
            send(mode, data, tag);
        } else if (rank == 1) {
            MPI_Status status;
            MPI_Request request;
            memset(data, 0, sizeof data);
            ok(MPI_Irecv(data, LENGTH, MPI_INT, 0, tag, MPI_COMM_WORLD, &request));
            if (mode == 3)
                MPI_Send(NULL, 0, MPI_INT, 0, 99, MPI_COMM_WORLD);
            ok(MPI_Wait(&request, &status));
            check(request == MPI_REQUEST_NULL);
            check(filled(data, sizeof data, mode));
            check_equal(status.MPI_SOURCE, 0);
            check_equal(status.MPI_TAG, tag);
            ok(MPI_Get_count(&status, MPI_INT, &count));
            check_equal(count, LENGTH);
        }
    }
    ok(MPI_Buffer_detach(&buffer, &room));
    free(buffer);
    return finish();
}
