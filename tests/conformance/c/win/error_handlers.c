/* A window has an error handler of its own: at first the fatal one, whatever its communicator's is. */
#include "check.h"

static int calls, seen_code;
static MPI_Win seen;

static void on_error(MPI_Win *win, int *code, ...)
{
    calls++;
    seen = *win;
    seen_code = *code;
}

static void on_comm_error(MPI_Comm *comm, int *code, ...)
{
    check(!"the window's handler takes errors on the window");
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return_errors();
    char memory[8];
    MPI_Win win, other;
    MPI_Errhandler handler, of_comms, found;
    ok(MPI_Win_create(memory, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    ok(MPI_Win_create(memory, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other));
    ok(MPI_Win_get_errhandler(win, &found));
    check(found == MPI_ERRORS_ARE_FATAL);
    ok(MPI_Win_create_errhandler(on_error, &handler));
    ok(MPI_Comm_create_errhandler(on_comm_error, &of_comms));
    ok(MPI_Win_set_errhandler(other, MPI_ERRORS_RETURN));
    check_class(MPI_Win_set_errhandler(other, of_comms), MPI_ERR_ERRHANDLER);
    check_class(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler), MPI_ERR_ERRHANDLER);
    ok(MPI_Win_set_errhandler(win, handler));
    ok(MPI_Errhandler_free(&handler));
    int code = MPI_Put(memory, 1, MPI_CHAR, 0, 0, 1, MPI_CHAR, win);
    check_class(code, MPI_ERR_RMA_SYNC);
    check(calls == 1 && seen == win && seen_code == code);
    check_class(MPI_Win_fence(-1, win), MPI_ERR_ASSERT);
    check_equal(calls, 2);
    check_class(MPI_Win_fence(-1, other), MPI_ERR_ASSERT);
    check_equal(calls, 2);
    ok(MPI_Win_call_errhandler(win, MPI_ERR_TAG));
    check(calls == 3 && seen_code == MPI_ERR_TAG);
    ok(MPI_Win_get_errhandler(win, &found));
    ok(MPI_Win_set_errhandler(other, found));
    ok(MPI_Errhandler_free(&found));
    /* A handle that is no window has no handler: the error goes to that of MPI_COMM_SELF. */
    check_class(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
    ok(MPI_Errhandler_free(&of_comms));
    ok(MPI_Win_free(&win));
    check_class(MPI_Win_fence(-1, other), MPI_ERR_ASSERT);
    check(calls == 4 && seen == other);
    ok(MPI_Win_free(&other));
    return finish();
}
