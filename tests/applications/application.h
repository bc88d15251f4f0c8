/* Functions for all programs of this folder: errors end the program, and results are printed bit for bit. */
#ifndef APPLICATION_H
#define APPLICATION_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A hash of values in their order (FNV-1a over their bytes). */
static inline uint64_t digest(uint64_t seed, const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    uint64_t hash = seed ^ 0xcbf29ce484222325u;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

/* Pseudo-random numbers that depend on `key` alone. */
static inline uint64_t scrambled(uint64_t key)
{
    key += 0x9e3779b97f4a7c15u;
    key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9u;
    key = (key ^ key >> 27) * 0x94d049bb133111ebu;
    return key ^ key >> 31;
}

/* A number in [0, 1) that depends on `key` alone. */
static inline double fraction(uint64_t key)
{
    return (double)(scrambled(key) >> 11) * 0x1p-53;
}

/* Allocated memory; without it the program ends. */
static inline void *memory(size_t count, size_t size)
{
    void *made = calloc(count ? count : 1, size);
    if (!made) {
        fprintf(stderr, "no memory for %zu times %zu bytes\n", count, size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return made;
}

/* Prints one line for each rank, in the order of ranks. */
static inline void print_in_order(const char *line)
{
    int rank, size;
    char other[200];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank != 0) {
        MPI_Send(line, (int)strlen(line) + 1, MPI_CHAR, 0, 999, MPI_COMM_WORLD);
        return;
    }
    printf("rank 0: %s\n", line);
    for (int from = 1; from < size; from++) {
        MPI_Recv(other, sizeof other, MPI_CHAR, from, 999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("rank %d: %s\n", from, other);
    }
    fflush(stdout);
}

#endif
