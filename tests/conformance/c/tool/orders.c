/* Every order of initialisation and finalisation: initialised and finalised before MPI_Init, kept across
 * MPI_Finalize, finalised once too often, initialised again; handles and registrations of earlier times, wrong
 * arguments. Each call returns its code, and none ends the process. */
#include "events.h"

static int called;

static void on_set(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                   void *data)
{
    called++;
}

int main(int argc, char **argv)
{
    int provided = -1, number = -1, index = -1, count, odd[] = {-1, 77, 0x7fffffff};
    long long value = 0, limit = 2000;
    MPI_Comm comm = MPI_COMM_SELF;
    MPI_T_pvar_session session, other;
    MPI_T_pvar_handle sent, foreign;
    MPI_T_cvar_handle cvar;
    MPI_T_event_registration registration;
    ok(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    ok(MPI_T_finalize());
    check_class(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    check_class(MPI_T_init_thread(MPI_THREAD_SINGLE, NULL), MPI_T_ERR_INVALID);
    check_class(MPI_T_pvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    for (int i = 0; i < 3; i++) {
        ok(MPI_T_init_thread(odd[i], &provided));
        check(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE);
    }
    ok(MPI_T_finalize());
    ok(MPI_T_finalize());
    /* Created before MPI_Init, used before, between and after MPI_Init and MPI_Finalize. */
    ok(MPI_T_pvar_session_create(&session));
    ok(MPI_T_pvar_session_create(&other));
    index = find_pvar("p2p_messages_sent", MPI_T_PVAR_CLASS_COUNTER);
    ok(MPI_T_pvar_handle_alloc(session, index, &comm, &sent, &count));
    ok(MPI_T_pvar_handle_alloc(other, index, &comm, &foreign, &count));
    ok(MPI_T_pvar_start(session, sent));
    ok(MPI_T_cvar_get_index("p2p_eager_limit", &index));
    ok(MPI_T_cvar_handle_alloc(index, NULL, &cvar, &count));
    registration = add_callback("tool_cvar_set", MPI_COMM_NULL, MPI_T_CB_REQUIRE_NONE, on_set, NULL);
    MPI_Init(&argc, &argv);
    identify();
    MPI_Sendrecv(&value, 1, MPI_LONG_LONG, 0, 0, &value, 1, MPI_LONG_LONG, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    check_class(MPI_T_pvar_read(session, foreign, &value), MPI_T_ERR_INVALID_HANDLE);
    check_class(MPI_T_pvar_read(other, sent, &value), MPI_T_ERR_INVALID_HANDLE);
    check_class(MPI_T_pvar_handle_free(other, &sent), MPI_T_ERR_INVALID_HANDLE);
    ok(MPI_T_pvar_session_free(&other));
    check_class(MPI_T_pvar_read(session, foreign, &value), MPI_T_ERR_INVALID_HANDLE);
    MPI_Finalize();
    check_equal(read_pvar(session, sent), 1);
    ok(MPI_T_cvar_write(cvar, &limit));
    ok(MPI_T_cvar_read(cvar, &value));
    check(value == limit && called == 1);
    /* When finalised, every call is refused; when initialised again, handles and sessions still exist. */
    ok(MPI_T_finalize());
    check_class(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    check_class(MPI_T_pvar_read(session, sent, &value), MPI_T_ERR_NOT_INITIALIZED);
    check_class(MPI_T_pvar_start(session, sent), MPI_T_ERR_NOT_INITIALIZED);
    check_class(MPI_T_cvar_read(cvar, &value), MPI_T_ERR_NOT_INITIALIZED);
    check_class(MPI_T_event_handle_free(registration, NULL, NULL), MPI_T_ERR_NOT_INITIALIZED);
    ok(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    check_equal(read_pvar(session, sent), 1);
    ok(MPI_T_cvar_write(cvar, &limit));
    check_equal(called, 2);
    ok(MPI_T_event_handle_free(registration, NULL, NULL));
    ok(MPI_T_cvar_handle_free(&cvar));
    check_class(MPI_T_cvar_handle_free(&cvar), MPI_T_ERR_INVALID_HANDLE);
    ok(MPI_T_pvar_handle_free(session, &sent));
    check_class(MPI_T_pvar_handle_free(session, &sent), MPI_T_ERR_INVALID_HANDLE);
    ok(MPI_T_pvar_session_free(&session));
    check_class(MPI_T_pvar_session_free(&session), MPI_T_ERR_INVALID_SESSION);
    ok(MPI_T_finalize());
    return verdict(wrong);
}
