/* Half round trip of a message, in microseconds: two ranks, blocking send and receive. Sizes: 0 bytes and the powers of
 * two from 8 bytes to 8 KiB; with the argument `long` those from 16 KiB to 4 MiB, with a number that one. */
#include "floor.h"

enum { LONGEST = 4 << 20 };

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

static void measure(int rank, char *buffer, int size, const char *level)
{
    double batch[BATCHES];
    int rounds = size <= 1024 ? 2000 : 1000;
    if (size > 8192)
        rounds = size < LONGEST ? LONGEST / size * 4 : 8;
    half_round_trip(rank, buffer, size, rounds);
    for (int b = 0; b < BATCHES; b++)
        batch[b] = half_round_trip(rank, buffer, size, rounds);
    char name[64];
    snprintf(name, sizeof name, "latency/%s%d", level, size);
    if (rank == 0)
        report(name, median(batch, BATCHES), "us");
}

int main(int argc, char **argv)
{
    int multiple = start(&argc, &argv), rank;
    const char *level = multiple ? "multiple/" : "", *wanted = argc > 1 ? argv[1] : "";
    int is_long = strcmp(wanted, "long") == 0, only = atoi(wanted);
    char *buffer = calloc(LONGEST, 1);
    if (buffer == NULL || only < 0 || only > LONGEST)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    floor_begin();
    if (only != 0) {
        measure(rank, buffer, only, level);
    } else if (is_long) {
        for (int size = 16 << 10; size <= LONGEST; size *= 2)
            measure(rank, buffer, size, level);
    } else {
        measure(rank, buffer, 0, level);
        for (int size = 8; size <= 8 << 10; size *= 2)
            measure(rank, buffer, size, level);
    }
    floor_end();
    free(buffer);
    MPI_Finalize();
    return 0;
}
