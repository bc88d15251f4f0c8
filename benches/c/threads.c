/* Message rate and latency of pairs of threads: two ranks with T threads each at MPI_THREAD_MULTIPLE. Thread t of rank
 * 0 and thread t of rank 1 are a pair with a communicator of its own. The argument is T. The number of rounds follows
 * the speed of the first batch, so that a run ends soon where there are more threads than cores. */
#include "floor.h"
#include <pthread.h>
#include <sys/resource.h>

enum { WINDOW = 64, MOST_THREADS = 64, MEASURED = 11 };

static int rank, threads, rounds;
static MPI_Comm comms[MOST_THREADS];
static pthread_barrier_t gate;
static void (*work)(int thread);

/* Windows of non-blocking 8-byte messages, an empty message back after each window. */
static void windows(int thread)
{
    long buffer[WINDOW] = {0};
    MPI_Request requests[WINDOW];
    for (int w = 0; w < rounds; w++) {
        if (rank == 0) {
            for (int i = 0; i < WINDOW; i++)
                MPI_Isend(&buffer[i], 8, MPI_BYTE, 1, 7, comms[thread], &requests[i]);
            MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 8, comms[thread], MPI_STATUS_IGNORE);
        } else {
            for (int i = 0; i < WINDOW; i++)
                MPI_Irecv(&buffer[i], 8, MPI_BYTE, 0, 7, comms[thread], &requests[i]);
            MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
            MPI_Send(NULL, 0, MPI_BYTE, 0, 8, comms[thread]);
        }
    }
}

/* Round trips of 8 bytes. */
static void round_trips(int thread)
{
    long buffer = 0;
    for (int i = 0; i < rounds; i++) {
        if (rank == 0) {
            MPI_Send(&buffer, 8, MPI_BYTE, 1, 1, comms[thread]);
            MPI_Recv(&buffer, 8, MPI_BYTE, 1, 1, comms[thread], MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&buffer, 8, MPI_BYTE, 0, 1, comms[thread], MPI_STATUS_IGNORE);
            MPI_Send(&buffer, 8, MPI_BYTE, 0, 1, comms[thread]);
        }
    }
}

/* All threads but the first: a batch between two passes of the gate, until there is no work. */
static void *worker(void *number)
{
    int thread = (int)(size_t)number;
    for (;;) {
        pthread_barrier_wait(&gate);
        if (work == NULL)
            return NULL;
        work(thread);
        pthread_barrier_wait(&gate);
    }
}

/* Seconds that all threads of this rank take. */
static double batch(void (*what)(int), int times)
{
    work = what;
    rounds = times;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = now();
    pthread_barrier_wait(&gate);
    work(0);
    pthread_barrier_wait(&gate);
    return now() - begin;
}

/* Context switches of this process so far. */
static double switches(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_nvcsw + used.ru_nivcsw);
}

/* Measures `what`: the median seconds of a round, and the context switches of both ranks in a round of one pair. */
static double measure(void (*what)(int), int most, double *switched)
{
    double times[MEASURED], took = batch(what, 4) / 4, sums[2];
    /* A batch takes about 40 ms. */
    int number = took * most < 0.04 ? most : 1 + (int)(0.04 / took);
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    batch(what, number);
    double before = switches();
    for (int b = 0; b < MEASURED; b++)
        times[b] = batch(what, number) / number;
    sums[0] = (switches() - before) / number / MEASURED / threads;
    MPI_Reduce(&sums[0], &sums[1], 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    *switched = sums[1];
    return median(times, MEASURED);
}

int main(int argc, char **argv)
{
    pthread_t others[MOST_THREADS];
    char name[64];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    threads = argc > 1 ? atoi(argv[1]) : 1;
    if (provided != MPI_THREAD_MULTIPLE || threads < 1 || threads > MOST_THREADS) {
        fprintf(stderr, "wanted: MPI_THREAD_MULTIPLE, and 1 to %d threads as the argument\n", MOST_THREADS);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    floor_begin();
    pthread_barrier_init(&gate, NULL, (unsigned)threads);
    for (int t = 0; t < threads; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    for (int t = 1; t < threads; t++)
        pthread_create(&others[t], NULL, worker, (void *)(size_t)t);

    double switched, seconds = measure(windows, 200, &switched);
    if (rank == 0) {
        snprintf(name, sizeof name, "threads/rate/%d", threads);
        report(name, threads * WINDOW / seconds * 1e-6, "M/s");
        snprintf(name, sizeof name, "threads/rate_switches/%d", threads);
        report(name, switched, "switches");
    }
    seconds = measure(round_trips, 2000, &switched);
    if (rank == 0) {
        snprintf(name, sizeof name, "threads/latency/%d", threads);
        report(name, seconds / 2 * 1e6, "us");
        snprintf(name, sizeof name, "threads/latency_switches/%d", threads);
        report(name, switched, "switches");
    }
    work = NULL;
    if (threads > 1)
        pthread_barrier_wait(&gate);
    for (int t = 1; t < threads; t++)
        pthread_join(others[t], NULL);
    for (int t = 0; t < threads; t++)
        MPI_Comm_free(&comms[t]);
    floor_end();
    MPI_Finalize();
    return 0;
}
