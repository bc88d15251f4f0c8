/* Message rate in millions a second: rank 0 starts a window of 64 MPI_Isend of 8 bytes, to the other ranks in turn, and
 * each of them its share of MPI_Irecv; an empty message back from each ends the window. */
#include "floor.h"

enum { WINDOW = 64 };

static void windows(int count, int rank, int size)
{
    MPI_Request requests[WINDOW];
    long long data[WINDOW] = {0};
    int share = WINDOW / (size - 1);
    for (int w = 0; w < count; w++) {
        if (rank == 0) {
            for (int i = 0; i < WINDOW; i++)
                MPI_Isend(&data[i], 8, MPI_BYTE, 1 + i % (size - 1), 1, MPI_COMM_WORLD, &requests[i]);
            MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
            for (int from = 1; from < size; from++)
                MPI_Recv(NULL, 0, MPI_BYTE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            for (int i = 0; i < share; i++)
                MPI_Irecv(&data[i], 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[i]);
            MPI_Waitall(share, requests, MPI_STATUSES_IGNORE);
            MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
        }
    }
}

int main(int argc, char **argv)
{
    double batch[BATCHES];
    int rank, size;
    start(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2 || WINDOW % (size - 1) != 0) {
        if (rank == 0)
            fprintf(stderr, "rate needs 2 ranks, or a number of receivers that divides %d\n", WINDOW);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    /* More ranks than cores: a window may take turns of the scheduler. */
    int count = size == 2 ? 300 : 30;
    floor_begin();
    windows(count, rank, size);
    for (int b = 0; b < BATCHES; b++) {
        double begin = now();
        windows(count, rank, size);
        batch[b] = (double)WINDOW * count / (now() - begin) * 1e-6;
    }
    if (rank == 0)
        report(size == 2 ? "rate/8" : "rate/8/4-receivers", median(batch, BATCHES), "M/s");
    floor_end();
    MPI_Finalize();
    return 0;
}
