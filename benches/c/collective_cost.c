/* Makes as many calls of one collective operation as the first argument states, each on 8 bytes; the second argument
 * selects the operation. Rank 0 calls through `one_first`, rank 1, when rank 0 has published, through `one_last`: these
 * are what callgrind counts. The harness subtracts the counts of two runs, which removes costs that occur once.
 *
 * Of a rooted operation rank 0 is the process that does not wait, so both counts repeat. Of the others rank 0 waits;
 * rank 1 begins some hundred microseconds after it, and its count includes the wake-up of rank 0 if that sleeps. */
#include "bench.h"
#include <unistd.h>

#define WORLD MPI_COMM_WORLD

static double in[2] = {1, 2}, out[2];
static MPI_Request request = MPI_REQUEST_NULL;

static int barrier(void)
{
    return MPI_Barrier(WORLD);
}

static int bcast(void)
{
    return MPI_Bcast(in, 1, MPI_DOUBLE, 0, WORLD);
}

static int reduce(void)
{
    return MPI_Reduce(in, out, 1, MPI_DOUBLE, MPI_SUM, 1, WORLD);
}

static int allreduce(void)
{
    return MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, WORLD);
}

/* Rank 1 starts after rank 0, so the operation is over at the first poll of MPI_Wait. */
static int persistent(void)
{
    MPI_Start(&request);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int gather(void)
{
    return MPI_Gather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, 1, WORLD);
}

static int scatter(void)
{
    return MPI_Scatter(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, 0, WORLD);
}

static int allgather(void)
{
    return MPI_Allgather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, WORLD);
}

static int alltoall(void)
{
    return MPI_Alltoall(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, WORLD);
}

static const struct {
    const char *name;
    int (*call)(void);
    int rooted;
} operations[] = {
    {"barrier", barrier, 0}, {"bcast", bcast, 1},     {"reduce", reduce, 1},       {"allreduce", allreduce, 0},
    {"gather", gather, 1},   {"scatter", scatter, 1}, {"allgather", allgather, 0}, {"alltoall", alltoall, 0},
    {"persistent", persistent, 0},
};

__attribute__((noinline)) void one_first(int (*call)(void))
{
    call();
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void one_last(int (*call)(void))
{
    call();
    __asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
    int rank, calls = argc > 1 ? atoi(argv[1]) : 0, unit;
    size_t which = 0, most = sizeof operations / sizeof *operations;
    while (which + 1 < most && argc > 2 && strcmp(argv[2], operations[which].name) != 0)
        which++;
    int waits = !operations[which].rooted, (*call)(void) = operations[which].call;
    int *flags; /* calls that rank 0 has begun or made, and that rank 1 has made */
    MPI_Aint size;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Win_allocate_shared(rank == 0 ? 256 : 0, sizeof *flags, MPI_INFO_NULL, WORLD, &flags, &window);
    MPI_Win_shared_query(window, 0, &size, &unit, &flags);
    int *first = flags, *last = flags + 32;
    if (rank == 0)
        *first = *last = 0;
    if (call == persistent)
        MPI_Allreduce_init(in, out, 1, MPI_DOUBLE, MPI_SUM, WORLD, MPI_INFO_NULL, &request);
    MPI_Barrier(WORLD);
    for (int done = 1; done <= calls; done++) {
        if (rank == 0) {
            if (waits)
                __atomic_store_n(first, done, __ATOMIC_RELEASE);
            one_first(call);
            if (!waits)
                __atomic_store_n(first, done, __ATOMIC_RELEASE);
            while (__atomic_load_n(last, __ATOMIC_ACQUIRE) < done)
                usleep(20);
        } else {
            while (__atomic_load_n(first, __ATOMIC_ACQUIRE) < done)
                usleep(20);
            if (waits)
                usleep(300);
            one_last(call);
            __atomic_store_n(last, done, __ATOMIC_RELEASE);
        }
    }
    if (call == persistent)
        MPI_Request_free(&request);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
