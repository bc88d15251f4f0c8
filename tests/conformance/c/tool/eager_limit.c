/* A write of the eager limit takes effect at once: the same message is eager before and uses rendezvous after. */
#include "tool.h"

static void message(int length)
{
    static char data[1000];
    if (rank == 0)
        MPI_Send(data, length, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(data, length, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_T_pvar_session session;
    MPI_T_cvar_handle limit;
    int index = -1, count;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    MPI_T_pvar_handle eager = watch(session, "p2p_eager_sent", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    MPI_T_pvar_handle offered = watch(session, "p2p_rendezvous_sent", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    ok(MPI_T_cvar_get_index("p2p_eager_limit", &index));
    ok(MPI_T_cvar_handle_alloc(index, NULL, &limit, &count));
    message(1000);
    if (rank == 0) {
        check_equal(read_pvar(session, eager), 1);
        check_equal(read_pvar(session, offered), 0);
        unsigned long long new_limit = 999;
        ok(MPI_T_cvar_write(limit, &new_limit));
    }
    message(1000);
    message(999);
    if (rank == 0) {
        check_equal(read_pvar(session, eager), 2);
        check_equal(read_pvar(session, offered), 1);
    }
    ok(MPI_T_cvar_handle_free(&limit));
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
