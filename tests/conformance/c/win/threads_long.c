/* While one thread of each process completes long operations with fences, another sends and receives: nothing is lost,
 * and accumulations of one process to the same elements keep their order. */
#include "threads.h"

enum { LONG = 300000, ROUNDS = 4, SHORT_ROUNDS = 400 };

static MPI_Comm own[2];
static int failures[2];

static void *operations(void)
{
    long long *memory = calloc(LONG, sizeof *memory), *data = malloc(LONG * sizeof *data);
    long long *ones = malloc(LONG * sizeof *ones), *before = malloc(LONG * sizeof *before);
    for (int i = 0; i < LONG; i++)
        ones[i] = 1;
    MPI_Win win;
    MPI_Win_create(memory, LONG * (MPI_Aint)sizeof *memory, sizeof *memory, MPI_INFO_NULL, own[0], &win);
    MPI_Win_fence(0, win);
    for (int round = 0; round < ROUNDS; round++) {
        /* The last of three in one epoch replaces what the first two did; then all processes add. */
        int next = (rank + 1) % size, previous = (rank + size - 1) % size;
        for (int i = 0; i < LONG; i++)
            data[i] = 200 + round + rank;
        for (int step = 0; step < 2; step++)
            MPI_Accumulate(ones, LONG, MPI_LONG_LONG, next, 0, LONG, MPI_LONG_LONG, MPI_SUM, win);
        MPI_Accumulate(data, LONG, MPI_LONG_LONG, next, 0, LONG, MPI_LONG_LONG, MPI_REPLACE, win);
        MPI_Win_fence(0, win);
        for (int target = 0; target < size; target++)
            MPI_Accumulate(ones, LONG, MPI_LONG_LONG, target, 0, LONG, MPI_LONG_LONG, MPI_SUM, win);
        MPI_Win_fence(0, win);
        for (int i = 0; i < LONG; i++)
            failures[0] += memory[i] != 200 + round + previous + size;
        MPI_Win_fence(0, win);
        MPI_Get_accumulate(ones, LONG, MPI_LONG_LONG, before, LONG, MPI_LONG_LONG, next, 0, LONG, MPI_LONG_LONG,
                           MPI_SUM, win);
        MPI_Win_fence(0, win);
        for (int i = 0; i < LONG; i++)
            failures[0] += before[i] != 200 + round + rank + size || memory[i] != 201 + round + previous + size;
        MPI_Win_fence(0, win);
        MPI_Put(data, LONG, MPI_LONG_LONG, next, 0, LONG, MPI_LONG_LONG, win);
        MPI_Win_fence(0, win);
        MPI_Get(before, LONG, MPI_LONG_LONG, next, 0, LONG, MPI_LONG_LONG, win);
        MPI_Win_fence(0, win);
        for (int i = 0; i < LONG; i++)
            failures[0] += before[i] != data[i] || memory[i] != 200 + round + previous;
        MPI_Win_fence(0, win);
    }
    MPI_Win_free(&win);
    free(memory);
    free(data);
    free(ones);
    free(before);
    return NULL;
}

static void *messages(void)
{
    for (int round = 0; round < SHORT_ROUNDS; round++) {
        int out = 1000 * rank + round, in = -1, previous = (rank + size - 1) % size;
        MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 2, &in, 1, MPI_INT, previous, 2, own[1], MPI_STATUS_IGNORE);
        failures[1] += in != 1000 * previous + round;
    }
    return NULL;
}

static void *work(void *argument)
{
    return argument == NULL ? operations() : messages();
}

int main(int argc, char **argv)
{
    begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    run_threads(2, own, work);
    check_equal(failures[0], 0);
    check_equal(failures[1], 0);
    return finish();
}
