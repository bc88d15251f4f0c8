/* How near the cores of two ranks are: half the round trip of one cache line between the processes, without MPI. A
 * virtual machine may move its cores between near and far ones while a program runs, so it is measured before and
 * after; numbers compare only within one class. Measuring before also warms both cores. */
#ifndef FERRUM_FLOOR_H
#define FERRUM_FLOOR_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif
#include "bench.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define FLOOR_STOP UINT64_MAX

/* Round trips between two looks at the clock, and the times of the last so many that the median is taken of. */
enum { FLOOR_TRIPS = 256, FLOOR_LAST = 64 };

/* The line that both processes have mapped; NULL where there is none. */
static uint64_t *floor_line;

static inline void floor_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Maps one page in both processes: rank 0 makes it, rank 1 opens it through rank 0's descriptors. */
static inline int floor_map(int rank)
{
    char path[64] = "";
    int file = -1, mapped, all;
    if (rank == 0) {
        file = memfd_create("bench", MFD_CLOEXEC);
        if (file >= 0 && ftruncate(file, 4096) == 0)
            snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getpid(), file);
    }
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 1)
        file = path[0] ? open(path, O_RDWR) : -1;
    void *page = file < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    mapped = page != MAP_FAILED;
    MPI_Allreduce(&mapped, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (file >= 0)
        close(file);
    floor_line = all ? page : NULL;
    return all;
}

/* Half the round trip in ns, after at least so many seconds; the result of rank 0 only. */
static inline double floor_measure(int rank, double seconds)
{
    static double batch[FLOOR_LAST];
    uint64_t number = 0, seen;
    int batches = 0;
    if (rank == 0)
        __atomic_store_n(floor_line, 0, __ATOMIC_RELEASE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        while ((seen = __atomic_load_n(floor_line, __ATOMIC_ACQUIRE)) != FLOOR_STOP) {
            if (seen == number + 1) {
                number += 2;
                __atomic_store_n(floor_line, number, __ATOMIC_RELEASE);
            }
            floor_pause();
        }
        MPI_Barrier(MPI_COMM_WORLD);
        return 0;
    }
    for (double begin = now(), before = begin, after = begin; after - begin < seconds || batches < FLOOR_LAST;) {
        for (int trip = 0; trip < FLOOR_TRIPS; trip++) {
            __atomic_store_n(floor_line, number + 1, __ATOMIC_RELEASE);
            number += 2;
            while (__atomic_load_n(floor_line, __ATOMIC_ACQUIRE) != number)
                floor_pause();
        }
        after = now();
        batch[batches++ % FLOOR_LAST] = (after - before) / FLOOR_TRIPS / 2 * 1e9;
        before = after;
        /* On one core a round trip is two turns of the scheduler. */
        if (after - begin > 5 * seconds)
            break;
    }
    __atomic_store_n(floor_line, FLOOR_STOP, __ATOMIC_RELEASE);
    MPI_Barrier(MPI_COMM_WORLD);
    return median(batch, batches < FLOOR_LAST ? batches : FLOOR_LAST);
}

/* The speed of memcpy in the cache, in GB/s: 64 KiB from one buffer to another. */
static inline double floor_memcpy(void)
{
    enum { BYTES = 64 * 1024, COPIES = 200 };
    static char from[BYTES], to[BYTES];
    double batch[BATCHES];
    for (int b = 0; b < BATCHES; b++) {
        double begin = now();
        for (int i = 0; i < COPIES; i++) {
            memcpy(to, from, BYTES);
            __asm__ volatile("" ::"r"(to), "r"(from) : "memory");
        }
        batch[b] = (double)BYTES * COPIES / (now() - begin) / 1e9;
    }
    return median(batch, BATCHES);
}

/* After MPI has started: with two ranks, reports `floor` and `memcpy`. */
static inline void floor_begin(void)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2 || !floor_map(rank))
        return;
    double before = floor_measure(rank, 1.0);
    if (rank == 0) {
        report("floor", before, "ns");
        report("memcpy", floor_memcpy(), "GB/s");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Before MPI ends: reports `floor_after`. */
static inline void floor_end(void)
{
    int rank;
    if (floor_line == NULL)
        return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double after = floor_measure(rank, 0.01);
    if (rank == 0)
        report("floor_after", after, "ns");
}

#endif
