/* A process that waits in MPI_Win_flush, MPI_Win_unlock or MPI_Win_sync for a change of its memory finds the operations
 * of others there: these calls make progress. With the argument `create` the memory is the program's. */
#include "check.h"

enum { ROUNDS = 20, FLUSH, UNLOCK, SYNC };

static void await_value(MPI_Win win, int how, volatile int *memory, int value)
{
    int found = -1, none = 0;
    while (found != value) {
        switch (how) {
        case FLUSH:
            ok(MPI_Fetch_and_op(&none, &found, MPI_INT, rank, 0, MPI_NO_OP, win));
            ok(MPI_Win_flush(rank, win));
            break;
        case UNLOCK:
            ok(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
            ok(MPI_Get(&found, 1, MPI_INT, rank, 0, 1, MPI_INT, win));
            ok(MPI_Win_unlock(rank, win));
            break;
        default:
            ok(MPI_Win_sync(win));
            found = *memory;
        }
    }
}

int main(int argc, char **argv)
{
    MPI_Win win;
    int *memory;
    begin(&argc, &argv);
    if (argc > 1) {
        ok(MPI_Alloc_mem(sizeof *memory, MPI_INFO_NULL, &memory));
        ok(MPI_Win_create(memory, sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    } else {
        ok(MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    }
    for (int how = FLUSH; how <= SYNC; how++) {
        *memory = 0;
        ok(MPI_Barrier(MPI_COMM_WORLD));
        if (how != UNLOCK)
            ok(MPI_Win_lock_all(0, win));
        /* The word goes round. */
        for (int round = 1; round <= ROUNDS; round++) {
            int next = (rank + 1) % size;
            if (rank > 0)
                await_value(win, how, memory, round);
            if (how == UNLOCK)
                ok(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win));
            ok(MPI_Accumulate(&round, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_REPLACE, win));
            if (how == UNLOCK)
                ok(MPI_Win_unlock(next, win));
            else
                ok(MPI_Win_flush(next, win));
            if (rank == 0)
                await_value(win, how, memory, round);
        }
        if (how != UNLOCK)
            ok(MPI_Win_unlock_all(win));
        ok(MPI_Barrier(MPI_COMM_WORLD));
    }
    ok(MPI_Win_free(&win));
    if (argc > 1)
        ok(MPI_Free_mem(memory));
    return finish();
}
