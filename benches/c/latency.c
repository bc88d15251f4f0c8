/* Half round trip of a message, in microseconds: two ranks, blocking send and receive. Sizes: 0 bytes and the powers of
 * two from 8 bytes to 8 KiB; with the argument `long` those from 16 KiB to 4 MiB, with a number that one; with
 * `alloc_mem` those from 64 KiB to 16 MiB, in turn from and to memory of MPI_Alloc_mem and of malloc. */
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

/* Batches with both kinds of memory in turn. */
static void measure_allocated(int rank, int size)
{
    static const char *const kinds[] = {"alloc_mem", "malloc"};
    double batch[2][BATCHES];
    int rounds = size < LONGEST ? LONGEST / size * 4 : 8;
    char *buffers[2] = {NULL, malloc((size_t)size)}, name[64];
    MPI_Alloc_mem(size, MPI_INFO_NULL, &buffers[0]);
    for (int i = 0; i < 2; i++) {
        memset(buffers[i], 0, (size_t)size);
        half_round_trip(rank, buffers[i], size, rounds);
    }
    for (int b = 0; b < BATCHES; b++)
        for (int i = 0; i < 2; i++)
            batch[i][b] = half_round_trip(rank, buffers[i], size, rounds);
    for (int i = 0; i < 2 && rank == 0; i++) {
        snprintf(name, sizeof name, "latency/%s/%d", kinds[i], size);
        report(name, median(batch[i], BATCHES), "us");
    }
    MPI_Free_mem(buffers[0]);
    free(buffers[1]);
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
    } else if (strcmp(wanted, "alloc_mem") == 0) {
        for (int size = 64 << 10; size <= 16 << 20; size *= 4)
            measure_allocated(rank, size);
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
