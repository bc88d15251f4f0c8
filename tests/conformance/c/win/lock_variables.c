/* The variables of a window count its locks and flushes, and the time that this process has waited for locks. */
#include "check.h"
#include <time.h>

enum { HELD_MS = 80 };

static MPI_T_pvar_session session;

static MPI_T_pvar_handle variable(const char *name, int class, MPI_Win *win)
{
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int index = -1, count = 0;
    check_equal(MPI_T_pvar_get_index(name, class, &index), MPI_SUCCESS);
    check_equal(MPI_T_pvar_handle_alloc(session, index, win, &handle, &count), MPI_SUCCESS);
    check_equal(count, 1);
    check_equal(MPI_T_pvar_start(session, handle), MPI_SUCCESS);
    return handle;
}

static unsigned long long number(MPI_T_pvar_handle handle)
{
    unsigned long long value = 0;
    check_equal(MPI_T_pvar_read(session, handle, &value), MPI_SUCCESS);
    return value;
}

int main(int argc, char **argv)
{
    int provided, *memory, other;
    double waited = -1;
    MPI_Win win;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    begin(&argc, &argv);
    ok(MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    check_equal(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    MPI_T_pvar_handle locks = variable("win_locks", MPI_T_PVAR_CLASS_COUNTER, &win);
    MPI_T_pvar_handle awaited = variable("win_locks_awaited", MPI_T_PVAR_CLASS_COUNTER, &win);
    MPI_T_pvar_handle time_awaited = variable("win_lock_wait_time", MPI_T_PVAR_CLASS_TIMER, &win);
    MPI_T_pvar_handle flushes = variable("win_flushes", MPI_T_PVAR_CLASS_COUNTER, &win);

    other = (rank + 1) % size;
    ok(MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win));
    check_class(MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win), MPI_ERR_RMA_SYNC);
    ok(MPI_Win_flush(other, win));
    ok(MPI_Win_flush_local(other, win));
    ok(MPI_Win_flush(MPI_PROC_NULL, win));
    ok(MPI_Win_unlock(other, win));
    ok(MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win));
    ok(MPI_Win_unlock(MPI_PROC_NULL, win));
    ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, MPI_MODE_NOCHECK, win));
    ok(MPI_Win_unlock(other, win));
    ok(MPI_Win_lock_all(0, win));
    ok(MPI_Win_flush_all(win));
    ok(MPI_Win_flush_local_all(win));
    ok(MPI_Win_unlock_all(win));
    check_equal(number(locks), 3);
    check_equal(number(flushes), 4);
    check_equal(number(awaited), 0);
    check_equal(MPI_T_pvar_read(session, time_awaited, &waited), MPI_SUCCESS);
    check(waited == 0);

    /* All others wait for rank 0. */
    ok(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    ok(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        struct timespec held = {0, HELD_MS * 1000000L};
        nanosleep(&held, NULL);
    } else {
        ok(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    }
    ok(MPI_Win_unlock(0, win));
    check_equal(number(locks), 4);
    check_equal(MPI_T_pvar_read(session, time_awaited, &waited), MPI_SUCCESS);
    /* Rank 0 is not slower than the others, but on a machine under load one of them may come after it. */
    check_equal(number(awaited), waited > 0);
    check(rank > 0 || waited == 0);
    check(waited < 100);
    check_equal(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
    ok(MPI_Win_free(&win));
    int result = finish();
    MPI_T_finalize();
    return result;
}
