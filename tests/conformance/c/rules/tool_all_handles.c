/* MPI_T_PVAR_ALL_HANDLES starts, stops and resets all handles of a session, also when there are none or none that
 * can be; it cannot be read, written, or read and reset. */
#include "tool/tool.h"

int main(int argc, char **argv)
{
    MPI_T_pvar_session session, empty;
    MPI_Comm comm = MPI_COMM_SELF;
    unsigned long long value[64] = {7, 8, 9};
    int number = 0, fixed = 0, word = 5, back = 0;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    ok(MPI_T_pvar_session_create(&empty));
    ok(MPI_T_pvar_start(empty, MPI_T_PVAR_ALL_HANDLES));
    ok(MPI_T_pvar_stop(empty, MPI_T_PVAR_ALL_HANDLES));
    ok(MPI_T_pvar_reset(empty, MPI_T_PVAR_ALL_HANDLES));
    check_equal(MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, value), MPI_T_ERR_INVALID_HANDLE);
    check_equal(MPI_T_pvar_write(session, MPI_T_PVAR_ALL_HANDLES, value), MPI_T_ERR_INVALID_HANDLE);
    check_equal(MPI_T_pvar_readreset(session, MPI_T_PVAR_ALL_HANDLES, value), MPI_T_ERR_INVALID_HANDLE);
    check(value[0] == 7 && value[1] == 8);
    MPI_T_pvar_handle none = MPI_T_PVAR_ALL_HANDLES;
    check_equal(MPI_T_pvar_handle_free(session, &none), MPI_T_ERR_INVALID_HANDLE);

    /* Only handles that cannot be started or reset. */
    ok(MPI_T_pvar_get_num(&number));
    for (int i = 0; i < number; i++) {
        struct pvar_info info = pvar_info(i);
        MPI_T_pvar_handle handle;
        int count;
        if (!info.continuous || !info.readonly || info.bind != MPI_T_BIND_NO_OBJECT)
            continue;
        ok(MPI_T_pvar_handle_alloc(empty, i, NULL, &handle, &count));
        fixed++;
    }
    check(fixed > 0);
    ok(MPI_T_pvar_start(empty, MPI_T_PVAR_ALL_HANDLES));
    ok(MPI_T_pvar_stop(empty, MPI_T_PVAR_ALL_HANDLES));
    ok(MPI_T_pvar_reset(empty, MPI_T_PVAR_ALL_HANDLES));

    /* One counter with other variables: started, counting, stopped, reset by MPI_T_PVAR_ALL_HANDLES. */
    MPI_T_pvar_handle sent = MPI_T_PVAR_HANDLE_NULL, length;
    int index, count;
    ok(MPI_T_pvar_get_index("p2p_messages_sent", MPI_T_PVAR_CLASS_COUNTER, &index));
    ok(MPI_T_pvar_handle_alloc(session, index, &comm, &sent, &count));
    ok(MPI_T_pvar_get_index("MPI_T_UMQ_LENGTH", MPI_T_PVAR_CLASS_LEVEL, &index));
    ok(MPI_T_pvar_handle_alloc(session, index, &comm, &length, &count));
    ok(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    ok(MPI_Sendrecv(&word, 1, MPI_INT, 0, 0, &back, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE));
    ok(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    check_equal(read_pvar(session, sent), 1);
    ok(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
    ok(MPI_Sendrecv(&word, 1, MPI_INT, 0, 0, &back, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE));
    ok(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
    check_equal(read_pvar(session, sent), 1);
    check_equal(read_pvar(session, length), 0);
    ok(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
    check_equal(read_pvar(session, sent), 0);
    ok(MPI_T_pvar_session_free(&session));
    ok(MPI_T_pvar_session_free(&empty));
    MPI_T_finalize();
    return finish();
}
