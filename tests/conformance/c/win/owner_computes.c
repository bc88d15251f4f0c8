/* With win_progress_thread the operations of others on memory of rank 0 are carried out, and its lock is granted, while
 * it computes: it makes no call of MPI until it has seen the results of all. The argument is the flavour of the
 * window. */
#include "check.h"
#include <sched.h>
#include <time.h>

enum { ROUNDS = 50, SUM, FETCHED, SWAPPED, PUT, ENDED, WORDS, SECONDS = 30 };

static MPI_Win make(const char *flavour, long **memory, MPI_Aint *base)
{
    MPI_Win win;
    int bytes = rank == 0 ? WORDS * (int)sizeof(long) : 0;
    *base = 0;
    if (strcmp(flavour, "allocate") == 0) {
        ok(MPI_Win_allocate(bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, memory, &win));
        return win;
    }
    ok(MPI_Alloc_mem(WORDS * sizeof(long), MPI_INFO_NULL, memory));
    if (strcmp(flavour, "create") == 0) {
        ok(MPI_Win_create(*memory, bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        return win;
    }
    ok(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    if (rank == 0) {
        ok(MPI_Win_attach(win, *memory, bytes));
        ok(MPI_Get_address(*memory, base));
    }
    ok(MPI_Bcast(base, 1, MPI_AINT, 0, MPI_COMM_WORLD));
    return win;
}

/* A displacement unit is a long, that of a dynamic window a byte. */
static MPI_Aint at(MPI_Aint base, int word)
{
    return base != 0 ? MPI_Aint_add(base, word * (MPI_Aint)sizeof(long)) : word;
}

static void compute(volatile long *memory)
{
    time_t end = time(NULL) + SECONDS;
    while (memory[ENDED] < size - 1 && time(NULL) < end)
        sched_yield();
    check_equal(memory[ENDED], size - 1);
    check_equal(memory[SUM], ROUNDS * (size - 1));
    check_equal(memory[FETCHED], ROUNDS * (size - 1));
    check_equal(memory[SWAPPED], size - 1);
    check(memory[PUT] >= 1 && memory[PUT] < size);
}

static void operate(MPI_Win win, MPI_Aint base)
{
    long one = 1, before = -1, mine = rank, found = -1, next = rank - 1, swapped = rank;
    for (int round = 0; round < ROUNDS; round++) {
        ok(MPI_Win_lock(round % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, win));
        ok(MPI_Accumulate(&one, 1, MPI_LONG, 0, at(base, SUM), 1, MPI_LONG, MPI_SUM, win));
        ok(MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, at(base, FETCHED), MPI_SUM, win));
        ok(MPI_Win_flush(0, win));
        check(before >= round);
        ok(MPI_Win_unlock(0, win));
    }
    ok(MPI_Win_lock_all(0, win));
    ok(MPI_Put(&mine, 1, MPI_LONG, 0, at(base, PUT), 1, MPI_LONG, win));
    ok(MPI_Win_flush(0, win));
    ok(MPI_Get(&found, 1, MPI_LONG, 0, at(base, PUT), 1, MPI_LONG, win));
    ok(MPI_Win_flush(0, win));
    check(found >= 1 && found < size);
    ok(MPI_Win_unlock_all(win));
    /* Each in its turn; those before may still want the lock alone. */
    do {
        ok(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
        ok(MPI_Compare_and_swap(&swapped, &next, &found, MPI_LONG, 0, at(base, SWAPPED), win));
        ok(MPI_Win_unlock(0, win));
    } while (found != next);
    ok(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    ok(MPI_Accumulate(&one, 1, MPI_LONG, 0, at(base, ENDED), 1, MPI_LONG, MPI_SUM, win));
    ok(MPI_Win_unlock(0, win));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    /* The thread sleeps after the first window. */
    for (int time = 0; time < 2; time++) {
        const char *flavour = argc > 1 ? argv[1] : "create";
        long *memory;
        MPI_Aint base;
        MPI_Win win = make(flavour, &memory, &base);
        if (rank == 0)
            memset(memory, 0, WORDS * sizeof *memory);
        ok(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == 0)
            compute(memory);
        else
            operate(win, base);
        ok(MPI_Barrier(MPI_COMM_WORLD));
        ok(MPI_Win_free(&win));
        if (strcmp(flavour, "allocate") != 0)
            ok(MPI_Free_mem(memory));
    }
    return finish();
}
