/* What all programs of the collective operations share: the arguments of a call, the table of calls, failures that name
 * their case, and numbers that follow from a seed.
 *
 * `calls.h` is written when the programs are built: a function for each collective function that the library has, in
 * the table `calls`. A function that is added to the library is tested without a line by hand. */
#ifndef FERRUM_COLLECTIVES_BASE_H
#define FERRUM_COLLECTIVES_BASE_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { MOST = 32 }; /* ranks of a communicator, and edges of a rank */

/* One list of a call in each type that a form of the call takes. */
struct list {
    int small[MOST];
    MPI_Count large[MOST];
    MPI_Aint bytes[MOST];
};

/* The arguments of any collective call, by their names in the standard. */
struct args {
    void *sendbuf, *recvbuf, *buffer;
    MPI_Count sendcount, recvcount, count;
    MPI_Datatype sendtype, recvtype, datatype;
    struct list sendcounts, recvcounts, displs, sdispls, rdispls;
    MPI_Datatype sendtypes[MOST], recvtypes[MOST];
    MPI_Op op;
    int root;
    MPI_Comm comm;
    MPI_Info info;
};

enum form { BLOCKING, NONBLOCKING, PERSISTENT };

/* A function of the library. */
struct call {
    const char *name;      /* without MPI_ */
    const char *operation; /* the name of the blocking function */
    enum form form;
    int large;
    int inter; /* takes intercommunicators */
    int (*function)(struct args *args, MPI_Request *request);
};

#include "calls.h"

static int wrong;
static uint64_t given_seed;

#define CHECK(condition, ...)                                                                                          \
    do {                                                                                                               \
        if (!(condition) && __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED) < 5) {                                     \
            fprintf(stderr, "%s:%d (seed %llu): ", __FILE__, __LINE__, (unsigned long long)given_seed);                \
            fprintf(stderr, __VA_ARGS__);                                                                              \
            fputc('\n', stderr);                                                                                       \
        }                                                                                                              \
    } while (0)

/* A call that must succeed. */
#define OK(call)                                                                                                       \
    do {                                                                                                               \
        int ok_code = (call);                                                                                          \
        if (ok_code != MPI_SUCCESS) {                                                                                  \
            char error[MPI_MAX_ERROR_STRING] = "";                                                                     \
            int length;                                                                                                \
            MPI_Error_string(ok_code, error, &length);                                                                 \
            CHECK(0, "%s: %s", #call, error);                                                                      \
        }                                                                                                              \
    } while (0)

static inline uint64_t scramble(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* A number that follows from a seed and two more. */
static inline uint64_t mixed(uint64_t seed, uint64_t a, uint64_t b)
{
    return scramble(scramble(seed ^ a * 0x9e3779b97f4a7c15u) + b);
}

/* The next number below `limit` of a sequence. */
static inline unsigned draw(uint64_t *state, unsigned limit)
{
    *state += 1;
    return (unsigned)(scramble(*state) % limit);
}

/* Rank 0 prints the seed before the first case, so that the output of a run that does not end has it. */
static inline void print_seed(int rank, uint64_t seed)
{
    if (rank == 0)
        printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
}

/* Adds the failures of all ranks; rank 0 prints "No Errors" when there are none. */
static inline int finish(void)
{
    int total = 0, rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf(total == 0 ? "No Errors\n" : "%d errors\n", total);
    fflush(stdout);
    MPI_Finalize();
    return total != 0;
}

#endif
