/* Writing or resetting a read-only variable, and starting or stopping a continuous one, return the codes that the
 * standard defines. */
#include "tool.h"

int main(int argc, char **argv)
{
    int number = 0, count;
    MPI_T_pvar_session session;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    ok(MPI_T_pvar_get_num(&number));
    for (int i = 0; i < number; i++) {
        struct pvar_info info = pvar_info(i);
        MPI_T_pvar_handle handle;
        MPI_Comm comm = MPI_COMM_WORLD;
        if (info.bind != MPI_T_BIND_NO_OBJECT && info.bind != MPI_T_BIND_MPI_COMM)
            continue;
        ok(MPI_T_pvar_handle_alloc(session, i, &comm, &handle, &count));
        unsigned long long *value = calloc((size_t)count, sizeof *value);
        check_equal(MPI_T_pvar_start(session, handle), info.continuous ? MPI_T_ERR_PVAR_NO_STARTSTOP : MPI_SUCCESS);
        ok(MPI_T_pvar_read(session, handle, value));
        check_equal(MPI_T_pvar_write(session, handle, value), info.readonly ? MPI_T_ERR_PVAR_NO_WRITE : MPI_SUCCESS);
        check_equal(MPI_T_pvar_reset(session, handle), info.readonly ? MPI_T_ERR_PVAR_NO_WRITE : MPI_SUCCESS);
        if (!info.atomic)
            check_equal(MPI_T_pvar_readreset(session, handle, value), MPI_T_ERR_PVAR_NO_ATOMIC);
        check_equal(MPI_T_pvar_stop(session, handle), info.continuous ? MPI_T_ERR_PVAR_NO_STARTSTOP : MPI_SUCCESS);
        ok(MPI_T_pvar_handle_free(session, &handle));
        check(handle == MPI_T_PVAR_HANDLE_NULL);
        free(value);
    }
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
