/* Messages and collectives between hosts. The argument chooses: `messages` (ranks 0 and 1): half round trips of
 * 8 bytes, 1 KiB, 64 KiB and 1 MiB, the rate of windows of 64 messages of 8 bytes, the bandwidth of windows of 16
 * messages of 64 KiB and 1 MiB; `collectives`: MPI_Barrier, MPI_Bcast and MPI_Allreduce of 8 bytes and 64 KiB on all
 * ranks, the slowest rank's time. */
#include "bench.h"

enum { LONGEST = 1 << 20, WINDOW = 64, LONG_WINDOW = 16 };

static char *memory;
static int rank, size;

static double half_round_trips(int bytes, int rounds)
{
    double begin = now();
    for (int i = 0; i < rounds; i++) {
        if (rank == 0)
            MPI_Send(memory, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(memory, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(memory, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
    return (now() - begin) / rounds / 2 * 1e6;
}

/* Windows of messages from rank 0 to rank 1, each with its own memory, which an empty message back ends; seconds a
 * window. */
static double windows(int window, int bytes, int rounds)
{
    MPI_Request requests[WINDOW];
    double begin = now();
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < window; i++) {
            char *at = memory + (size_t)i * (size_t)bytes;
            if (rank == 0)
                MPI_Isend(at, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[i]);
            else
                MPI_Irecv(at, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
        if (rank == 0)
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    }
    return (now() - begin) / rounds;
}

static void messages(void)
{
    static const int sizes[] = {8, 1 << 10, 64 << 10, 1 << 20};
    double batch[BATCHES];
    char name[64];
    for (int s = 0; s < 4; s++) {
        int rounds = sizes[s] > 64 << 10 ? 10 : sizes[s] > 1 << 10 ? 100 : 400;
        half_round_trips(sizes[s], rounds);
        for (int b = 0; b < BATCHES; b++)
            batch[b] = half_round_trips(sizes[s], rounds);
        snprintf(name, sizeof name, "latency/%d", sizes[s]);
        if (rank == 0)
            report(name, median(batch, BATCHES), "us");
    }
    windows(WINDOW, 8, 20);
    for (int b = 0; b < BATCHES; b++)
        batch[b] = WINDOW / windows(WINDOW, 8, 40) * 1e-6;
    if (rank == 0)
        report("rate/8", median(batch, BATCHES), "M/s");
    for (int s = 2; s < 4; s++) {
        int rounds = sizes[s] > 64 << 10 ? 2 : 10;
        windows(LONG_WINDOW, sizes[s], rounds);
        for (int b = 0; b < BATCHES; b++)
            batch[b] = (double)sizes[s] * LONG_WINDOW / windows(LONG_WINDOW, sizes[s], rounds) * 1e-9;
        snprintf(name, sizeof name, "bandwidth/%d", sizes[s]);
        if (rank == 0)
            report(name, median(batch, BATCHES), "GB/s");
    }
}

static void call(int which, int bytes)
{
    char *out = memory + LONGEST;
    if (which == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    else if (which == 1)
        MPI_Bcast(memory, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    else
        MPI_Allreduce(memory, out, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void collectives(void)
{
    static const struct { const char *name; int which, bytes; } cases[] = {
        {"barrier", 0, 0}, {"bcast", 1, 8}, {"bcast", 1, 64 << 10}, {"allreduce", 2, 8}, {"allreduce", 2, 64 << 10},
    };
    for (int c = 0; c < 5; c++) {
        double batch[BATCHES], slowest = 0;
        char name[64];
        int calls = cases[c].bytes > 8 ? 60 : 200;
        for (int b = -1; b < BATCHES; b++) {
            MPI_Barrier(MPI_COMM_WORLD);
            double begin = now();
            for (int i = 0; i < calls; i++)
                call(cases[c].which, cases[c].bytes);
            double mine = (now() - begin) / calls * 1e6;
            MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            if (b >= 0)
                batch[b] = slowest;
        }
        if (cases[c].which == 0)
            snprintf(name, sizeof name, "barrier/2x%d", size / 2);
        else
            snprintf(name, sizeof name, "%s/%d/2x%d", cases[c].name, cases[c].bytes, size / 2);
        if (rank == 0)
            report(name, median(batch, BATCHES), "us");
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    memory = calloc(LONG_WINDOW, LONGEST);
    if (argc < 2 || memory == NULL || size < 2 || size % 2 != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    /* From both hosts, so that no page is met first in a measurement. */
    memset(memory, 0, (size_t)LONG_WINDOW * LONGEST);
    if (strcmp(argv[1], "messages") == 0)
        messages();
    else
        collectives();
    free(memory);
    MPI_Finalize();
    return 0;
}
