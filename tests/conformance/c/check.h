/* Functions for all conformance programs: `check` counts and prints failures; `finish` adds the counts of all ranks
 * and prints "No Errors" if there were none. */
#ifndef FERRUM_CHECK_H
#define FERRUM_CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong, rank, size;

/* Prints the first failures of a rank; more would hide them. */
#define check(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition) && wrong++ < 10) {                                                                            \
            fprintf(stderr, "%s:%d: rank %d: not so: %s\n", __FILE__, __LINE__, rank, #condition);                     \
        }                                                                                                              \
    } while (0)

/* Compares two values as long; a failure prints both. */
#define check_equal(value, expected)                                                                                   \
    do {                                                                                                               \
        long long is = (long long)(value), should = (long long)(expected);                                             \
        if (is != should && wrong++ < 10)                                                                              \
            fprintf(stderr, "%s:%d: rank %d: %s is %lld, not %lld (%s)\n", __FILE__, __LINE__, rank, #value, is,       \
                    should, #expected);                                                                                \
    } while (0)

/* The call returns an error of this class. */
#define check_class(call, expected)                                                                                    \
    do {                                                                                                               \
        int is = class_of(call), should = (expected);                                                                  \
        if (is != should && wrong++ < 10)                                                                              \
            fprintf(stderr, "%s:%d: rank %d: %s gives error class %d, not %d (%s)\n", __FILE__, __LINE__, rank, #call, \
                    is, should, #expected);                                                                            \
    } while (0)

#define ok(call) check_class(call, MPI_SUCCESS)

static inline int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

static inline void identify(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/* Starts MPI at a thread level that must be granted. */
static inline void begin_threads(int *argc, char ***argv, int level)
{
    int provided = -1;
    MPI_Init_thread(argc, argv, level, &provided);
    identify();
    check(provided >= level);
}

static inline void begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    identify();
}

/* Errors on the predefined communicators are returned to the caller. For programs that check error codes. */
static inline void return_errors(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

static inline int verdict(int total)
{
    if (rank == 0 && total == 0)
        printf("No Errors\n");
    else if (rank == 0)
        printf("%d errors\n", total);
    fflush(stdout);
    return total != 0;
}

static inline int finish(void)
{
    int total = 0;
    MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    int result = verdict(total);
    MPI_Finalize();
    return result;
}

/* A byte that depends on its position, on the sender and on the message, so that misplaced data is found. */
static inline unsigned char pattern(size_t at, int seed)
{
    return (unsigned char)((at * 131 + (at >> 8) * 17 + (size_t)seed * 29 + 7) & 0xff);
}

static inline void fill(void *buffer, size_t length, int seed)
{
    for (size_t i = 0; i < length; i++)
        ((unsigned char *)buffer)[i] = pattern(i, seed);
}

static inline int filled(const void *buffer, size_t length, int seed)
{
    for (size_t i = 0; i < length; i++)
        if (((const unsigned char *)buffer)[i] != pattern(i, seed))
            return 0;
    return 1;
}

#endif
