/* A handle bound to a freed communicator is MPI_T_ERR_INVALID_HANDLE in every call but the one that frees it;
 * handles of other communicators work. */
#include "tool.h"

int main(int argc, char **argv)
{
    MPI_T_pvar_session session;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    MPI_T_pvar_handle other = watch(session, "p2p_messages_sent", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_SELF);
    int back;
    for (int i = 0; i < 300; i++) {
        MPI_Comm comm;
        unsigned long long value = 0;
        ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        MPI_T_pvar_handle handle = watch(session, "p2p_messages_sent", MPI_T_PVAR_CLASS_COUNTER, comm);
        MPI_Send(&i, 1, MPI_INT, MPI_PROC_NULL, 0, comm);
        ok(MPI_Comm_free(&comm));
        check_equal(MPI_T_pvar_read(session, handle, &value), MPI_T_ERR_INVALID_HANDLE);
        check_equal(MPI_T_pvar_start(session, handle), MPI_T_ERR_INVALID_HANDLE);
        check_equal(MPI_T_pvar_stop(session, handle), MPI_T_ERR_INVALID_HANDLE);
        check_equal(MPI_T_pvar_reset(session, handle), MPI_T_ERR_INVALID_HANDLE);
        check_equal(MPI_T_pvar_write(session, handle, &value), MPI_T_ERR_INVALID_HANDLE);
        check_equal(MPI_T_pvar_readreset(session, handle, &value), MPI_T_ERR_INVALID_HANDLE);
        check_equal(value, 0);
        if (i % 2)
            ok(MPI_T_pvar_handle_free(session, &handle));
        ok(MPI_Sendrecv(&i, 1, MPI_INT, 0, 0, &back, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        check_equal(read_pvar(session, other), i + 1);
        ok(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    }
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
