/* A handle bound to a communicator that is then freed can still be read and freed without harm. */
#include "tool.h"

int main(int argc, char **argv)
{
    MPI_T_pvar_session session;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    for (int i = 0; i < 300; i++) {
        MPI_Comm comm;
        unsigned long long value = 0;
        ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        MPI_T_pvar_handle handle = watch(session, "p2p_messages_sent", MPI_T_PVAR_CLASS_COUNTER, comm);
        MPI_Send(&i, 1, MPI_INT, MPI_PROC_NULL, 0, comm);
        ok(MPI_Comm_free(&comm));
        int code = MPI_T_pvar_read(session, handle, &value);
        check(code == MPI_SUCCESS || code == MPI_T_ERR_INVALID_HANDLE || code == MPI_T_ERR_NOT_ACCESSIBLE);
        if (i % 2)
            ok(MPI_T_pvar_handle_free(session, &handle));
    }
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
