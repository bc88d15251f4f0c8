/* Half round trip of a message, in microseconds, at four sizes, or at the one of the argument: two
 * ranks, blocking send and receive. */
#include "floor.h"

static double half_round_trip(int rank, char *buffer, int size, int rounds)
{
    double begin = now();
    for (int i = 0; i < rounds; i++) {
        if (rank == 0) {
            MPI_Send(buffer, size, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(buffer, size, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(buffer, size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(buffer, size, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
    }
    return (now() - begin) / rounds / 2 * 1e6;
}

int main(int argc, char **argv)
{
    static const int sizes[] = {8, 64, 1024, 8192};
    static char buffer[8192];
    int multiple = start(&argc, &argv), rank, only = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    floor_begin();
    for (int s = 0; s < 4; s++) {
        double batch[BATCHES];
        if (only != 0 && sizes[s] != only)
            continue;
        half_round_trip(rank, buffer, sizes[s], 2000);
        for (int b = 0; b < BATCHES; b++)
            batch[b] = half_round_trip(rank, buffer, sizes[s], 2000);
        char name[64];
        snprintf(name, sizeof name, "latency/%s%d", multiple ? "multiple/" : "", sizes[s]);
        if (rank == 0)
            report(name, median(batch, BATCHES), "us");
    }
    floor_end();
    MPI_Finalize();
    return 0;
}
