/* A process of another job ends while it holds the lock of a window's memory alone: the next process gets the lock. One
 * that ends while it shares a lock may hold it for ever: that is an error, and no hang. */
#include "jobs.h"

#include <signal.h>

int main(int argc, char **argv)
{
    MPI_Comm inter, both;
    MPI_Win win;
    long *memory, one = 1, found = -1;
    char port[MPI_MAX_PORT_NAME] = "";
    pid_t child = 0;
    begin(&argc, &argv);
    const int dies = argc > 1;
    if (dies) {
        ok(MPI_Comm_connect(argv[2], MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    } else {
        if (rank == 0) {
            ok(MPI_Open_port(MPI_INFO_NULL, port));
            child = start_job(0, argv[0], "die", port);
        }
        ok(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    }
    ok(MPI_Intercomm_merge(inter, dies, &both));
    const int last = dies ? 0 : size;
    ok(MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, both, &memory, &win));
    *memory = 5;
    ok(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    ok(MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN));
    ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    ok(MPI_Barrier(both));
    if (dies) {
        int own;
        ok(MPI_Comm_rank(both, &own));
        ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        ok(MPI_Win_lock(MPI_LOCK_SHARED, own, 0, win));
        ok(MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win));
        ok(MPI_Win_flush(0, win));
        /* Over a network a process that is killed takes its last messages with it, so it waits for answers. */
        for (int i = 0; i < own; i++) {
            ok(MPI_Send(&one, 1, MPI_LONG, i, 0, both));
            ok(MPI_Recv(NULL, 0, MPI_LONG, i, 1, both, MPI_STATUS_IGNORE));
        }
        raise(SIGKILL);
    }
    ok(MPI_Recv(&found, 1, MPI_LONG, last, 0, both, MPI_STATUS_IGNORE));
    check_equal(found, 1);
    ok(MPI_Send(NULL, 0, MPI_LONG, last, 1, both));
    /* All processes that are left want it, one after the other. */
    ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    ok(MPI_Fetch_and_op(&one, &found, MPI_LONG, 0, 0, MPI_SUM, win));
    ok(MPI_Win_unlock(0, win));
    check(found >= 6 && found < 6 + size);
    check_class(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, win), MPI_ERR_PROC_ABORTED);
    ok(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        int status;
        check_equal(*memory, 6 + size);
        waitpid(child, &status, 0);
        check(WIFSIGNALED(status));
    }
    return finish();
}
