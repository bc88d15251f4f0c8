/* Threads of all processes lock different ranks of one window at once, wait for locks beside each other, and flush the
 * operations of their own. With the argument `create` the memory is the program's. */
#include "check.h"
#include <pthread.h>

enum { ROUNDS = 200, MOST = 16 };

static MPI_Win win;

static void *add(void *argument)
{
    int target = *(int *)argument;
    for (int round = 0; round < ROUNDS; round++) {
        long one = 1, found = -1;
        int alone = (round + rank) % 2;
        ok(MPI_Win_lock(alone ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, win));
        ok(MPI_Accumulate(&one, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM, win));
        if (alone) {
            ok(MPI_Get(&found, 1, MPI_LONG, target, 1, 1, MPI_LONG, win));
            ok(MPI_Win_flush(target, win));
            check(found >= 0);
            found++;
            ok(MPI_Put(&found, 1, MPI_LONG, target, 1, 1, MPI_LONG, win));
        }
        ok(MPI_Win_unlock(target, win));
    }
    return NULL;
}

/* All threads in one epoch for all ranks: each finds what it has flushed itself. */
static void *flush(void *argument)
{
    int target = *(int *)argument;
    for (long round = 1; round <= ROUNDS; round++) {
        long found = -1, none = 0;
        ok(MPI_Accumulate(&round, 1, MPI_LONG, target, 2 + rank, 1, MPI_LONG, MPI_REPLACE, win));
        if (round % 2)
            ok(MPI_Win_flush(target, win));
        else
            ok(MPI_Win_flush_all(win));
        ok(MPI_Fetch_and_op(&none, &found, MPI_LONG, target, 2 + rank, MPI_NO_OP, win));
        ok(MPI_Win_flush_local(target, win));
        check_equal(found, round);
    }
    return NULL;
}

static void in_threads(void *(*body)(void *))
{
    pthread_t threads[MOST];
    int targets[MOST];
    for (int i = 0; i < size; i++) {
        targets[i] = i;
        check_equal(pthread_create(&threads[i], NULL, body, &targets[i]), 0);
    }
    for (int i = 0; i < size; i++)
        check_equal(pthread_join(threads[i], NULL), 0);
}

int main(int argc, char **argv)
{
    long *memory;
    begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    MPI_Aint bytes = (2 + size) * (MPI_Aint)sizeof *memory;
    if (argc > 1) {
        ok(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory));
        ok(MPI_Win_create(memory, bytes, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    } else {
        ok(MPI_Win_allocate(bytes, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    }
    memset(memory, 0, (size_t)bytes);
    ok(MPI_Barrier(MPI_COMM_WORLD));
    in_threads(add);
    ok(MPI_Barrier(MPI_COMM_WORLD));
    check_equal(memory[0], (long)size * ROUNDS);
    check_equal(memory[1], (long)size * ROUNDS / 2);
    ok(MPI_Win_lock_all(0, win));
    in_threads(flush);
    ok(MPI_Win_unlock_all(win));
    ok(MPI_Win_free(&win));
    if (argc > 1)
        ok(MPI_Free_mem(memory));
    return finish();
}
