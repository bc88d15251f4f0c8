/* Common code of the side-by-side programs: a clock, the median of repeated batches, and the one output form: a line
 * `name value unit` per number, printed by rank 0. */
#ifndef FERRUM_BENCH_H
#define FERRUM_BENCH_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Batches whose median is reported. */
enum { BATCHES = 21 };

/* Seconds, from the same clock for every library. */
static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_value);
    return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

static inline void report(const char *name, double value, const char *unit)
{
    printf("%s %.6g %s\n", name, value, unit);
    fflush(stdout);
}

/* Starts MPI; the first argument `multiple` requests MPI_THREAD_MULTIPLE. Returns whether it was given. */
static inline int start(int *argc, char ***argv)
{
    int multiple = *argc > 1 && strcmp((*argv)[1], "multiple") == 0;
    int provided;
    MPI_Init_thread(argc, argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    if (multiple && provided != MPI_THREAD_MULTIPLE) {
        fprintf(stderr, "MPI_THREAD_MULTIPLE is not provided\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return multiple;
}

#endif
