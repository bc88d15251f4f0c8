/* Cost of a message for one of several waiting threads: rank 1 has T threads, each blocked in a receive on a
 * communicator of its own; rank 0 sends to one of them at a time and waits for its answer. The argument is T. Reports
 * the time of a round trip and the context switches in rank 1 for each: 1 is the least where threads sleep. */
#include "floor.h"
#include <pthread.h>
#include <sys/resource.h>

enum { MOST_THREADS = 64, MEASURED = 7 };

static MPI_Comm comms[MOST_THREADS];

/* Answers until a message is marked as the last. */
static void *answer(void *number)
{
    MPI_Comm comm = comms[(size_t)number];
    for (int last = 0; !last;) {
        MPI_Recv(&last, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
        MPI_Send(&last, 1, MPI_INT, 0, 1, comm);
    }
    return NULL;
}

/* One round trip with each thread, in an order that does not follow their numbers. */
static void turns(int threads, int number, int last)
{
    for (int n = 0; n < number; n++)
        for (int t = 0; t < threads; t++) {
            MPI_Comm comm = comms[(t * 5 + n) % threads];
            MPI_Send(&last, 1, MPI_INT, 1, 1, comm);
            MPI_Recv(&last, 1, MPI_INT, 1, 1, comm, MPI_STATUS_IGNORE);
        }
}

static double voluntary_switches(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)used.ru_nvcsw;
}

int main(int argc, char **argv)
{
    pthread_t waiting[MOST_THREADS];
    char name[64];
    int provided, rank, threads, number = 0;
    double switched = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    threads = argc > 1 ? atoi(argv[1]) : 8;
    if (provided != MPI_THREAD_MULTIPLE || threads < 1 || threads > MOST_THREADS || threads % 5 == 0) {
        fprintf(stderr, "wanted: MPI_THREAD_MULTIPLE, and 1 to %d threads, no multiple of 5\n", MOST_THREADS);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    floor_begin();
    for (int t = 0; t < threads; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    if (rank == 1)
        for (int t = 0; t < threads; t++)
            pthread_create(&waiting[t], NULL, answer, (void *)(size_t)t);
    if (rank == 0) {
        double times[MEASURED], begin = now();
        turns(threads, 4, 0);
        number = 1 + (int)(0.1 / ((now() - begin) / 4));
        if (number > 500)
            number = 500;
        for (int b = 0; b < MEASURED; b++) {
            begin = now();
            turns(threads, number, 0);
            times[b] = (now() - begin) / number / threads;
        }
        turns(threads, 1, 1);
        snprintf(name, sizeof name, "threads/asleep/%d", threads);
        report(name, median(times, MEASURED) * 1e6, "us");
    } else {
        for (int t = 0; t < threads; t++)
            pthread_join(waiting[t], NULL);
        switched = voluntary_switches();
    }
    MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(&switched, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    if (rank == 0) {
        snprintf(name, sizeof name, "threads/asleep_switches/%d", threads);
        report(name, switched / ((number * (double)MEASURED + 5) * threads), "switches");
    }
    for (int t = 0; t < threads; t++)
        MPI_Comm_free(&comms[t]);
    floor_end();
    MPI_Finalize();
    return 0;
}
