/* Locks of windows: one process at a time changes memory under an exclusive lock; shared locks exclude exclusive ones
 * only; operations are complete at the target after a flush and after the unlock; MPI_Win_lock_all locks all ranks.
 * With the argument `create` the memory is the program's. */
#include "check.h"
#include <stdlib.h>

enum { ROUNDS = 100, LENGTH = 3000 };

static int rank, size;
static long *memory;

static MPI_Win make(int argc, char **argv)
{
    MPI_Win win;
    MPI_Aint bytes = (MPI_Aint)((2 + LENGTH) * sizeof *memory);
    if (argc > 1 && strcmp(argv[1], "create") == 0) {
        ok(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory));
        ok(MPI_Win_create(memory, bytes, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    } else {
        ok(MPI_Win_allocate(bytes, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    }
    for (int i = 0; i < 2 + LENGTH; i++)
        memory[i] = 0;
    ok(MPI_Barrier(MPI_COMM_WORLD));
    return win;
}

/* Two words change together; each process adds to both of rank 0. */
static void exclusive(MPI_Win win)
{
    for (int round = 0; round < ROUNDS; round++) {
        long both[2] = {-1, -2};
        ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        ok(MPI_Get(both, 2, MPI_LONG, 0, 0, 2, MPI_LONG, win));
        ok(MPI_Win_flush(0, win));
        check_equal(both[0], both[1]);
        both[0]++;
        ok(MPI_Put(&both[0], 1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
        ok(MPI_Win_flush_local(0, win));
        both[1]++;
        ok(MPI_Put(&both[1], 1, MPI_LONG, 0, 1, 1, MPI_LONG, win));
        ok(MPI_Win_unlock(0, win));
    }
    ok(MPI_Barrier(MPI_COMM_WORLD));
    ok(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    check_equal(memory[0], rank == 0 ? (long)size * ROUNDS : 0);
    check_equal(memory[1], memory[0]);
    ok(MPI_Win_unlock(rank, win));
    ok(MPI_Barrier(MPI_COMM_WORLD));
}

/* All processes add to all others at once, each element by one operation. */
static void all_at_once(MPI_Win win)
{
    long *ones = malloc(LENGTH * sizeof *ones), before = -1, one = 1;
    for (int i = 0; i < LENGTH; i++)
        ones[i] = 1 + rank;
    ok(MPI_Win_lock_all(0, win));
    for (int target = 0; target < size; target++) {
        ok(MPI_Accumulate(ones, LENGTH, MPI_LONG, target, 2, LENGTH, MPI_LONG, MPI_SUM, win));
        ok(MPI_Fetch_and_op(&one, &before, MPI_LONG, target, 0, MPI_SUM, win));
        ok(MPI_Win_flush(target, win));
        check(before >= 0);
    }
    ok(MPI_Win_flush_all(win));
    ok(MPI_Win_flush_local_all(win));
    ok(MPI_Barrier(MPI_COMM_WORLD));
    /* All have flushed. */
    ok(MPI_Win_sync(win));
    for (int i = 0; i < LENGTH; i++)
        check_equal(memory[2 + i], (long)size * (size + 1) / 2);
    long there[LENGTH] = {0};
    ok(MPI_Get(there, LENGTH, MPI_LONG, (rank + 1) % size, 2, LENGTH, MPI_LONG, win));
    ok(MPI_Win_unlock_all(win));
    for (int i = 0; i < LENGTH; i++)
        check_equal(there[i], (long)size * (size + 1) / 2);
    ok(MPI_Barrier(MPI_COMM_WORLD));
    free(ones);
}

/* Compare and swap as a lock of the program's, and several locks at once. */
static void several(MPI_Win win)
{
    long value = rank, found = -1;
    ok(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, win));
    if (size > 1)
        ok(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win));
    ok(MPI_Put(&value, 1, MPI_LONG, 0, 2 + rank, 1, MPI_LONG, win));
    if (size > 1)
        ok(MPI_Put(&value, 1, MPI_LONG, 1, 2 + rank, 1, MPI_LONG, win));
    ok(MPI_Win_unlock(0, win));
    if (size > 1)
        ok(MPI_Win_unlock(1, win));
    ok(MPI_Barrier(MPI_COMM_WORLD));
    for (int other = 0; other < size; other++) {
        ok(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
        ok(MPI_Get(&found, 1, MPI_LONG, 0, 2 + other, 1, MPI_LONG, win));
        ok(MPI_Win_unlock(0, win));
        check_equal(found, other);
    }
    /* No process: no effect. */
    ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, win));
    ok(MPI_Win_unlock(MPI_PROC_NULL, win));
    ok(MPI_Barrier(MPI_COMM_WORLD));
}

/* Fences, locks and groups in turn. */
static void in_turn(MPI_Win win)
{
    long value = 7, found = -1;
    int next = (rank + 1) % size;
    ok(MPI_Win_fence(0, win));
    ok(MPI_Put(&value, 1, MPI_LONG, next, 5, 1, MPI_LONG, win));
    ok(MPI_Accumulate(&value, 1, MPI_LONG, next, 6, 1, MPI_LONG, MPI_REPLACE, win));
    ok(MPI_Win_fence(0, win));
    ok(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win));
    ok(MPI_Accumulate(&value, 1, MPI_LONG, next, 6, 1, MPI_LONG, MPI_SUM, win));
    ok(MPI_Win_unlock(next, win));
    ok(MPI_Win_fence(0, win));
    ok(MPI_Accumulate(&value, 1, MPI_LONG, next, 6, 1, MPI_LONG, MPI_SUM, win));
    ok(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    ok(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win));
    ok(MPI_Get(&found, 1, MPI_LONG, next, 6, 1, MPI_LONG, win));
    ok(MPI_Win_unlock(next, win));
    check_equal(found, 21);
    ok(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win win = make(argc, argv);
    exclusive(win);
    all_at_once(win);
    several(win);
    in_turn(win);
    ok(MPI_Win_free(&win));
    if (argc > 1)
        ok(MPI_Free_mem(memory));
    return finish();
}
