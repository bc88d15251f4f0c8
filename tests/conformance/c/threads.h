/* Functions for the programs whose threads each have a communicator. */
#ifndef FERRUM_THREADS_H
#define FERRUM_THREADS_H

#include "check.h"
#include <pthread.h>

enum { MOST_THREADS = 16 };

/* Starts this many threads, each of which calls `work` with its number and a duplicate of MPI_COMM_WORLD in `own`;
 * joins them and frees the communicators. */
static inline void run_threads(int threads, MPI_Comm *own, void *(*work)(void *))
{
    pthread_t started[MOST_THREADS];
    for (int i = 0; i < threads; i++)
        ok(MPI_Comm_dup(MPI_COMM_WORLD, &own[i]));
    for (size_t i = 0; i < (size_t)threads; i++)
        pthread_create(&started[i], NULL, work, (void *)i);
    for (int i = 0; i < threads; i++)
        pthread_join(started[i], NULL);
    for (int i = 0; i < threads; i++)
        ok(MPI_Comm_free(&own[i]));
}

#endif
