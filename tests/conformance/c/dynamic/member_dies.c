/* A process of another job ends while others wait for its epochs at windows, agree on a communicator with it, or wait
 * for a connection together with it: all of these calls end with an error, in all processes, and those that are left
 * go on. */
#include "jobs.h"

#include <signal.h>

enum { WINDOWS = 3, WORDS = 1 << 16 };

static void at_window(MPI_Win win, MPI_Group dead, int last, MPI_Aint place)
{
    static long data[WORDS];
    int flag = 0, code;
    ok(MPI_Win_post(dead, 0, win));
    check_class(MPI_Win_wait(win), MPI_ERR_PROC_ABORTED);
    ok(MPI_Win_post(dead, 0, win));
    do
        code = MPI_Win_test(win, &flag);
    while (code == MPI_SUCCESS && !flag);
    check_class(code, MPI_ERR_PROC_ABORTED);
    check_class(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
    check_class(MPI_Win_start(dead, 0, win), MPI_ERR_PROC_ABORTED);
    check_class(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    /* Its memory may still be mapped: then operations work. Nothing waits for its answers. */
    ok(MPI_Win_lock(MPI_LOCK_SHARED, last, MPI_MODE_NOCHECK, win));
    code = MPI_Get(data, WORDS, MPI_LONG, last, place, WORDS, MPI_LONG, win);
    check(code == MPI_SUCCESS || class_of(code) == MPI_ERR_PROC_ABORTED);
    code = MPI_Accumulate(data, WORDS, MPI_LONG, last, place, WORDS, MPI_LONG, MPI_SUM, win);
    check(code == MPI_SUCCESS || class_of(code) == MPI_ERR_PROC_ABORTED);
    code = MPI_Win_unlock(last, win);
    check(code == MPI_SUCCESS || class_of(code) == MPI_ERR_PROC_ABORTED);
    check_class(MPI_Win_fence(0, win), MPI_ERR_PROC_ABORTED);
}

int main(int argc, char **argv)
{
    MPI_Comm inter, both, other;
    MPI_Group all, dead, left;
    MPI_Win wins[WINDOWS];
    static long memory[2][WORDS];
    long *own, word = 7;
    MPI_Aint place;
    char port[MPI_MAX_PORT_NAME] = "", second[MPI_MAX_PORT_NAME] = "";
    pid_t child = 0;
    begin(&argc, &argv);
    const int dies = argc > 1;
    if (dies) {
        ok(MPI_Comm_connect(argv[2], MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    } else {
        if (rank == 0) {
            ok(MPI_Open_port(MPI_INFO_NULL, port));
            ok(MPI_Open_port(MPI_INFO_NULL, second));
            child = start_job(0, argv[0], "die", port);
        }
        ok(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    }
    ok(MPI_Intercomm_merge(inter, dies, &both));
    const int last = dies ? 0 : size;
    ok(MPI_Win_create(memory[0], sizeof memory[0], 8, MPI_INFO_NULL, both, &wins[0]));
    ok(MPI_Win_allocate(sizeof memory[0], 8, MPI_INFO_NULL, both, &own, &wins[1]));
    ok(MPI_Win_create_dynamic(MPI_INFO_NULL, both, &wins[2]));
    ok(MPI_Win_attach(wins[2], memory[1], sizeof memory[1]));
    ok(MPI_Get_address(memory[1], &place));
    for (int i = 0; i < WINDOWS; i++)
        ok(MPI_Win_set_errhandler(wins[i], MPI_ERRORS_RETURN));
    ok(MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN));
    ok(MPI_Comm_group(both, &all));
    ok(MPI_Barrier(both));
    if (dies) {
        int processes;
        ok(MPI_Comm_size(both, &processes));
        for (int i = 0; i < processes - 1; i++)
            ok(MPI_Send(&word, 1, MPI_LONG, i, 0, both));
        raise(SIGKILL);
    }
    ok(MPI_Recv(&word, 1, MPI_LONG, last, 0, both, MPI_STATUS_IGNORE));
    ok(MPI_Group_incl(all, 1, &last, &dead));
    ok(MPI_Group_excl(all, 1, &last, &left));
    for (int i = 0; i < WINDOWS; i++)
        at_window(wins[i], dead, last, i == 2 ? place : 0);
    for (int i = 0; i < 20; i++) {
        check_class(MPI_Comm_create_group(both, all, i, &other), MPI_ERR_PROC_ABORTED);
        int count = 0, one = 1;
        ok(MPI_Comm_create_group(both, left, i, &other));
        ok(MPI_Allreduce(&one, &count, 1, MPI_INT, MPI_SUM, other));
        check_equal(count, size);
        ok(MPI_Comm_free(&other));
    }
    ok(MPI_Barrier(MPI_COMM_WORLD));
    check_class(MPI_Comm_accept(second, MPI_INFO_NULL, 0, both, &other), MPI_ERR_PROC_ABORTED);
    ok(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        int status;
        waitpid(child, &status, 0);
        check(WIFSIGNALED(status));
        ok(MPI_Close_port(port));
        ok(MPI_Close_port(second));
    }
    ok(MPI_Group_free(&all));
    ok(MPI_Group_free(&dead));
    ok(MPI_Group_free(&left));
    return finish();
}
