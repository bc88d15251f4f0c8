/* Whether threads of one process hinder each other: T threads, each sending windows of 8-byte messages to its own
 * process on a communicator of its own, at MPI_THREAD_MULTIPLE. Messages of one process need no second core, so with
 * two cores two threads run at the same time. Reports the rate of one thread, beside T - 1 that wait outside of MPI,
 * the rate of T threads, and their ratio. The argument is T. */
#include "bench.h"
#include <pthread.h>

enum { WINDOW = 64, MOST_THREADS = 64, MEASURED = 11 };

static int threads, active, rounds;
static MPI_Comm comms[MOST_THREADS];
static pthread_barrier_t gate;

static void windows(int thread)
{
    long out[WINDOW] = {0}, in[WINDOW];
    MPI_Request requests[2 * WINDOW];
    for (int w = 0; w < rounds; w++) {
        for (int i = 0; i < WINDOW; i++)
            MPI_Irecv(&in[i], 8, MPI_BYTE, 0, 7, comms[thread], &requests[i]);
        for (int i = 0; i < WINDOW; i++)
            MPI_Isend(&out[i], 8, MPI_BYTE, 0, 7, comms[thread], &requests[WINDOW + i]);
        MPI_Waitall(2 * WINDOW, requests, MPI_STATUSES_IGNORE);
    }
}

/* All threads but the first: a batch between two passes of the gate, until there is no work. */
static void *worker(void *number)
{
    int thread = (int)(size_t)number;
    for (;;) {
        pthread_barrier_wait(&gate);
        if (active == 0)
            return NULL;
        if (thread < active)
            windows(thread);
        pthread_barrier_wait(&gate);
    }
}

/* Seconds of a batch of the first `count` threads. */
static double batch(int count)
{
    active = count;
    double begin = now();
    pthread_barrier_wait(&gate);
    windows(0);
    pthread_barrier_wait(&gate);
    return now() - begin;
}

int main(int argc, char **argv)
{
    pthread_t others[MOST_THREADS];
    double alone[MEASURED], together[MEASURED];
    char name[64];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    threads = argc > 1 ? atoi(argv[1]) : 2;
    if (provided != MPI_THREAD_MULTIPLE || threads < 2 || threads > MOST_THREADS) {
        fprintf(stderr, "wanted: MPI_THREAD_MULTIPLE, and 2 to %d threads as the argument\n", MOST_THREADS);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    pthread_barrier_init(&gate, NULL, (unsigned)threads);
    for (int t = 0; t < threads; t++)
        MPI_Comm_dup(MPI_COMM_SELF, &comms[t]);
    for (int t = 1; t < threads; t++)
        pthread_create(&others[t], NULL, worker, (void *)(size_t)t);
    rounds = 200;
    double took = batch(1);
    rounds = 1 + (int)(rounds * 0.02 / took);
    for (int b = 0; b < MEASURED; b++) {
        alone[b] = batch(1);
        together[b] = batch(threads);
    }
    double one = WINDOW * rounds / median(alone, MEASURED) * 1e-6;
    double all = threads * WINDOW * rounds / median(together, MEASURED) * 1e-6;
    snprintf(name, sizeof name, "threads/self/1-of-%d", threads);
    report(name, one, "M/s");
    snprintf(name, sizeof name, "threads/self/%d", threads);
    report(name, all, "M/s");
    snprintf(name, sizeof name, "threads/self/%d-over-1", threads);
    report(name, all / one, "times");
    active = 0;
    pthread_barrier_wait(&gate);
    for (int t = 1; t < threads; t++)
        pthread_join(others[t], NULL);
    for (int t = 0; t < threads; t++)
        MPI_Comm_free(&comms[t]);
    MPI_Finalize();
    return 0;
}
