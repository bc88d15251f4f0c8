/* A further initialisation of the tool interface only counts: session and handle stay valid, the level returned is
 * one of the four, and its finalisation ends nothing. */
#include "tool/tool.h"

static void message(void)
{
    int word = 1, back;
    ok(MPI_Sendrecv(&word, 1, MPI_INT, 0, 0, &back, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    MPI_T_pvar_session session;
    int provided = -1, number = -1;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    MPI_T_pvar_handle handle = watch(session, "p2p_messages_sent", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_SELF);
    unsigned long long sent = 41;
    ok(MPI_T_pvar_write(session, handle, &sent));
    for (int i = 0; i < 4; i++) {
        provided = -1;
        ok(MPI_T_init_thread(levels[i], &provided));
        check(provided == levels[0] || provided == levels[1] || provided == levels[2] || provided == levels[3]);
        check(provided >= levels[i]);
        check_equal(read_pvar(session, handle), sent);
        message();
        check_equal(read_pvar(session, handle), ++sent);
    }
    for (int i = 0; i < 2; i++)
        ok(MPI_T_finalize());
    ok(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    for (int i = 0; i < 3; i++) {
        message();
        check_equal(read_pvar(session, handle), ++sent);
        ok(MPI_T_finalize());
    }
    ok(MPI_T_pvar_handle_free(session, &handle));
    ok(MPI_T_pvar_session_free(&session));
    ok(MPI_T_finalize());
    check_equal(MPI_T_pvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    check_equal(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    tool_begin();
    ok(MPI_T_pvar_get_num(&number));
    check(number > 0);
    ok(MPI_T_finalize());
    return finish();
}
