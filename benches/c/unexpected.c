/* Nanoseconds a receive, when a queue of 10 or 10,000 unexpected messages is received in reverse order of arrival. */
#include "floor.h"

static double drain(int rank, int queued)
{
    long word = 0;
    double seconds = 0;
    if (rank == 0) {
        for (int i = 0; i < queued; i++)
            MPI_Send(&word, 8, MPI_BYTE, 1, i, MPI_COMM_WORLD);
        MPI_Send(NULL, 0, MPI_BYTE, 1, queued, MPI_COMM_WORLD);
        MPI_Recv(&seconds, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        /* Messages between two ranks do not overtake: once this one is here, all of them are. */
        MPI_Recv(NULL, 0, MPI_BYTE, 0, queued, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double begin = now();
        for (int i = queued - 1; i >= 0; i--)
            MPI_Recv(&word, 8, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        seconds = now() - begin;
        MPI_Send(&seconds, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    }
    return seconds / queued * 1e9;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    floor_begin();
    double batch[1000];
    for (int b = -10; b < 1000; b++) {
        double each = drain(rank, 10);
        if (b >= 0)
            batch[b] = each;
    }
    if (rank == 0)
        report("unexpected/10", median(batch, 1000), "ns");
    drain(rank, 10000);
    for (int b = 0; b < 3; b++)
        batch[b] = drain(rank, 10000);
    if (rank == 0)
        report("unexpected/10000", median(batch, 3), "ns");
    floor_end();
    MPI_Finalize();
    return 0;
}
