/* Bandwidth in GB/s (10^9 bytes): rank 0 starts a window of 16 MPI_Isend, each from its own buffer, rank 1 a window of
 * 16 MPI_Irecv, each into its own buffer; an empty message back ends the window. */
#include "floor.h"

enum { WINDOW = 16, LARGEST = 4 << 20 };

static void window(int rank, char *buffer, int size)
{
    MPI_Request requests[WINDOW];
    if (rank == 0) {
        for (int i = 0; i < WINDOW; i++)
            MPI_Isend(buffer + (size_t)i * (size_t)size, size, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        MPI_Recv(NULL, 0, MPI_BYTE, 1, WINDOW, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        for (int i = 0; i < WINDOW; i++)
            MPI_Irecv(buffer + (size_t)i * (size_t)size, size, MPI_BYTE, 0, i, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        MPI_Send(NULL, 0, MPI_BYTE, 0, WINDOW, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    static const int sizes[] = {4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20};
    static const int repeats[] = {300, 100, 40, 16, 6, 2};
    start(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    floor_begin();
    char *buffer = malloc((size_t)WINDOW * LARGEST);
    memset(buffer, rank + 1, (size_t)WINDOW * LARGEST);
    for (int s = 0; s < 6; s++) {
        double batch[BATCHES];
        for (int i = 0; i < repeats[s]; i++)
            window(rank, buffer, sizes[s]);
        for (int b = 0; b < BATCHES; b++) {
            double begin = now();
            for (int i = 0; i < repeats[s]; i++)
                window(rank, buffer, sizes[s]);
            batch[b] = (double)sizes[s] * WINDOW * repeats[s] / (now() - begin) * 1e-9;
        }
        char name[64];
        snprintf(name, sizeof name, "bandwidth/%dK", sizes[s] >> 10);
        if (rank == 0)
            report(name, median(batch, BATCHES), "GB/s");
    }
    free(buffer);
    floor_end();
    MPI_Finalize();
    return 0;
}
