/* No call of the tool interface waits for another process: rank 0 makes all of them while the others wait for a signal that it sends
 * afterwards. */
#define _POSIX_C_SOURCE 200809L
#include "tool/tool.h"
#include <signal.h>
#include <unistd.h>

enum { MOST_RANKS = 64 };

static void all_calls(void)
{
    MPI_T_pvar_session session;
    MPI_Comm comm = MPI_COMM_WORLD;
    static char value[65536];
    int number = 0, count, stamp;
    tool_begin();
    ok(MPI_T_category_changed(&stamp));
    ok(MPI_T_pvar_session_create(&session));
    ok(MPI_T_pvar_get_num(&number));
    for (int i = 0; i < number; i++) {
        struct pvar_info info = pvar_info(i);
        MPI_T_pvar_handle handle;
        if (info.bind != MPI_T_BIND_NO_OBJECT && info.bind != MPI_T_BIND_MPI_COMM)
            continue;
        if (MPI_T_pvar_handle_alloc(session, i, &comm, &handle, &count) != MPI_SUCCESS)
            continue;
        MPI_T_pvar_start(session, handle);
        ok(MPI_T_pvar_read(session, handle, value));
        MPI_T_pvar_readreset(session, handle, value);
        MPI_T_pvar_reset(session, handle);
        MPI_T_pvar_stop(session, handle);
        ok(MPI_T_pvar_handle_free(session, &handle));
    }
    ok(MPI_T_pvar_session_free(&session));
    ok(MPI_T_finalize());
}

int main(int argc, char **argv)
{
    int mine = (int)getpid(), all[MOST_RANKS], signal_number = 0;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    begin(&argc, &argv);
    check(size <= MOST_RANKS);
    ok(MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
    if (rank == 0) {
        all_calls();
        for (int i = 1; i < size; i++)
            check(kill((pid_t)all[i], SIGUSR1) == 0);
    } else {
        check(sigwait(&set, &signal_number) == 0 && signal_number == SIGUSR1);
    }
    return finish();
}
