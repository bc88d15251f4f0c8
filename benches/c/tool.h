/* What the programs about the tool information interface share: a variable to use, and the time of a call. */
#ifndef FERRUM_BENCH_TOOL_H
#define FERRUM_BENCH_TOOL_H

#include "bench.h"

enum { CALLS = 20000 };

/* Nanoseconds of one `call`, above an empty loop: the median of batches. */
#define measure(name, ...)                                                                                             \
    do {                                                                                                               \
        double batch[BATCHES];                                                                                         \
        for (int b = 0; b < BATCHES; b++) {                                                                            \
            double begin = now(), empty;                                                                               \
            for (int i = 0; i < CALLS; i++)                                                                            \
                __asm__ volatile("" ::: "memory");                                                                     \
            empty = now() - begin;                                                                                     \
            begin = now();                                                                                             \
            for (int i = 0; i < CALLS; i++) {                                                                          \
                __VA_ARGS__;                                                                                           \
                __asm__ volatile("" ::: "memory");                                                                     \
            }                                                                                                          \
            batch[b] = (now() - begin - empty) / CALLS * 1e9;                                                          \
        }                                                                                                              \
        char full[100];                                                                                                \
        snprintf(full, sizeof full, "tool/%s/%s", name, multiple ? "multiple" : "single");                             \
        report(full, median(batch, BATCHES), "ns");                                                                    \
    } while (0)

/* Starts a handle of the first variable of this class that one can be had for, with one element; its index, or -1. */
static inline int open_class(MPI_T_pvar_session session, int wanted, MPI_T_pvar_handle *handle, char *name, int room)
{
    static MPI_Comm comm;
    long long value[64];
    int number = 0;
    comm = MPI_COMM_WORLD;
    MPI_T_pvar_get_num(&number);
    for (int i = 0; i < number; i++) {
        int length = room, verbosity, class, bind, readonly, continuous, atomic, count;
        MPI_Datatype type;
        if (MPI_T_pvar_get_info(i, name, &length, &verbosity, &class, &type, NULL, NULL, NULL, &bind, &readonly, &continuous,
                                &atomic) != MPI_SUCCESS)
            continue;
        if ((bind != MPI_T_BIND_NO_OBJECT && bind != MPI_T_BIND_MPI_COMM) || class != wanted)
            continue;
        if (MPI_T_pvar_handle_alloc(session, i, &comm, handle, &count) != MPI_SUCCESS)
            continue;
        if (!continuous)
            MPI_T_pvar_start(session, *handle);
        if (count == 1 && MPI_T_pvar_read(session, *handle, value) == MPI_SUCCESS)
            return i;
        MPI_T_pvar_handle_free(session, handle);
    }
    return -1;
}

#endif
