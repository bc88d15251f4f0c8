/* Common code of the programs about the tool information interface: a variable to use, and the time of a call. */
#ifndef FERRUM_BENCH_TOOL_H
#define FERRUM_BENCH_TOOL_H

#include "bench.h"

enum { CALLS = 20000 };

/* One call after another, as one: MPI_SUCCESS when both gave it. */
#define both(first, second) ({ int code_ = (first); code_ | (second); })

/* Nanoseconds of one `call`, an expression that gives MPI_SUCCESS, above an empty loop: the median of batches. A call
 * that fails, at once or later, is reported on the standard error output and has no time: a library that refuses is not
 * fast. */
#define measure(name, ...)                                                                                             \
    do {                                                                                                               \
        double batch[BATCHES];                                                                                         \
        int failed = (__VA_ARGS__);                                                                                    \
        for (int b_ = 0; b_ < BATCHES && !failed; b_++) {                                                              \
            double begin = now(), empty;                                                                               \
            for (int i_ = 0; i_ < CALLS; i_++)                                                                         \
                __asm__ volatile("" ::: "memory");                                                                     \
            empty = now() - begin;                                                                                     \
            begin = now();                                                                                             \
            for (int i_ = 0; i_ < CALLS; i_++) {                                                                       \
                failed |= (__VA_ARGS__);                                                                               \
                __asm__ volatile("" ::: "memory");                                                                     \
            }                                                                                                          \
            batch[b_] = (now() - begin - empty) / CALLS * 1e9;                                                         \
        }                                                                                                              \
        char full[100];                                                                                                \
        snprintf(full, sizeof full, "tool/%s/%s", name, multiple ? "multiple" : "single");                             \
        if (failed)                                                                                                    \
            fprintf(stderr, "%s: refused\n", full);                                                                    \
        else                                                                                                           \
            report(full, median(batch, BATCHES), "ns");                                                                \
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
        if (MPI_T_pvar_get_info(i, name, &length, &verbosity, &class, &type, NULL, NULL, NULL, &bind, &readonly,
                                &continuous, &atomic) != MPI_SUCCESS)
            continue;
        if ((bind != MPI_T_BIND_NO_OBJECT && bind != MPI_T_BIND_MPI_COMM) || class != wanted)
            continue;
        if (MPI_T_pvar_handle_alloc(session, i, &comm, handle, &count) != MPI_SUCCESS)
            continue;
        if (!continuous && MPI_T_pvar_start(session, *handle) != MPI_SUCCESS) {
            MPI_T_pvar_handle_free(session, handle);
            continue;
        }
        if (count == 1 && MPI_T_pvar_read(session, *handle, value) == MPI_SUCCESS)
            return i;
        MPI_T_pvar_handle_free(session, handle);
    }
    return -1;
}

#endif
