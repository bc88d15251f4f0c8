/* The variables of a window count the operations of this process on that window alone. */
#include "check.h"

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

static unsigned long long read_of(MPI_T_pvar_handle handle)
{
    unsigned long long value = 0;
    check_equal(MPI_T_pvar_read(session, handle, &value), MPI_SUCCESS);
    return value;
}

int main(int argc, char **argv)
{
    int provided;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    begin(&argc, &argv);
    long memory[100], data[100] = {0};
    MPI_Win win, other;
    ok(MPI_Win_create(memory, sizeof memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    ok(MPI_Win_create(memory, sizeof memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &other));
    check_equal(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    MPI_T_pvar_handle puts = variable("win_puts", MPI_T_PVAR_CLASS_COUNTER, &win);
    MPI_T_pvar_handle put_bytes = variable("win_put_bytes", MPI_T_PVAR_CLASS_AGGREGATE, &win);
    MPI_T_pvar_handle get_bytes = variable("win_get_bytes", MPI_T_PVAR_CLASS_AGGREGATE, &win);
    MPI_T_pvar_handle sums = variable("win_accumulates", MPI_T_PVAR_CLASS_COUNTER, &win);
    MPI_T_pvar_handle fences = variable("win_fences", MPI_T_PVAR_CLASS_COUNTER, &win);
    MPI_T_pvar_handle elsewhere = variable("win_puts", MPI_T_PVAR_CLASS_COUNTER, &other);
    ok(MPI_Win_fence(0, win));
    ok(MPI_Win_fence(0, other));
    for (int i = 0; i < 5; i++)
        ok(MPI_Put(data, 10, MPI_LONG, (rank + 1) % size, 0, 10, MPI_LONG, win));
    ok(MPI_Put(data, 10, MPI_LONG, MPI_PROC_NULL, 0, 10, MPI_LONG, win));
    ok(MPI_Win_fence(0, win));
    ok(MPI_Get(data, 100, MPI_LONG, rank, 0, 100, MPI_LONG, win));
    ok(MPI_Win_fence(0, win));
    ok(MPI_Accumulate(data, 100, MPI_LONG, 0, 0, 100, MPI_LONG, MPI_MAX, win));
    ok(MPI_Put(data, 1, MPI_LONG, 0, rank, 1, MPI_LONG, other));
    ok(MPI_Win_fence(0, other));
    ok(MPI_Win_fence(0, win));
    check_equal(read_of(puts), 5);
    check_equal(read_of(put_bytes), 400);
    check_equal(read_of(get_bytes), 800);
    check_equal(read_of(sums), 1);
    check_equal(read_of(fences), 4);
    check_equal(read_of(elsewhere), 1);
    ok(MPI_Win_free(&win));
    unsigned long long value;
    check(MPI_T_pvar_read(session, puts, &value) != MPI_SUCCESS);
    check_equal(read_of(elsewhere), 1);
    check_equal(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
    ok(MPI_Win_free(&other));
    int result = finish();
    MPI_T_finalize();
    return result;
}
