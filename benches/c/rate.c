/* Message rate in millions of 8-byte messages a second: windows of 64 MPI_Isend against 64 MPI_Irecv, an empty message
 * back after each window. */
#include "floor.h"

enum { WINDOW = 64, WINDOWS = 300 };

static void windows(int rank, long *buffer)
{
    MPI_Request requests[WINDOW];
    for (int w = 0; w < WINDOWS; w++) {
        if (rank == 0) {
            for (int i = 0; i < WINDOW; i++)
                MPI_Isend(&buffer[i], 8, MPI_BYTE, 1, 7, MPI_COMM_WORLD, &requests[i]);
            MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            for (int i = 0; i < WINDOW; i++)
                MPI_Irecv(&buffer[i], 8, MPI_BYTE, 0, 7, MPI_COMM_WORLD, &requests[i]);
            MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
            MPI_Send(NULL, 0, MPI_BYTE, 0, 8, MPI_COMM_WORLD);
        }
    }
}

int main(int argc, char **argv)
{
    static long buffer[WINDOW];
    double batch[BATCHES];
    start(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    floor_begin();
    windows(rank, buffer);
    for (int b = 0; b < BATCHES; b++) {
        double begin = now();
        windows(rank, buffer);
        batch[b] = WINDOWS * WINDOW / (now() - begin) * 1e-6;
    }
    if (rank == 0)
        report("rate/8", median(batch, BATCHES), "M/s");
    floor_end();
    MPI_Finalize();
    return 0;
}
