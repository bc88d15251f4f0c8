/* The interface is initialised for the first time after MPI_Finalize, or without any MPI_Init (argument `never`), or
 * before MPI_Init and not again (argument `before`): variables of the process work, and handles of freed objects are
 * invalid. */
#include "events.h"

static int called;

static void on_set(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                   void *data)
{
    called++;
}

static void variables(void)
{
    MPI_T_pvar_session session;
    int number = 0, tried = 0;
    static unsigned long long value[8192];
    ok(MPI_T_pvar_session_create(&session));
    ok(MPI_T_pvar_get_num(&number));
    check(number > 0);
    for (int i = 0; i < number; i++) {
        struct pvar_info info = pvar_info(i);
        MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
        MPI_Comm comm = MPI_COMM_WORLD;
        int count = 0, code = MPI_T_pvar_handle_alloc(session, i, &comm, &handle, &count);
        if (info.bind != MPI_T_BIND_NO_OBJECT && info.bind != MPI_T_BIND_MPI_COMM) {
            check(code == MPI_T_ERR_INVALID || code == MPI_T_ERR_NOT_ACCESSIBLE);
            continue;
        }
        if (info.bind == MPI_T_BIND_MPI_COMM && code != MPI_SUCCESS) {
            check(code == MPI_T_ERR_INVALID && handle == MPI_T_PVAR_HANDLE_NULL);
            continue;
        }
        check_equal(code, MPI_SUCCESS);
        check_equal(MPI_T_pvar_start(session, handle), info.continuous ? MPI_T_ERR_PVAR_NO_STARTSTOP : MPI_SUCCESS);
        ok(MPI_T_pvar_read(session, handle, value));
        check_equal(MPI_T_pvar_reset(session, handle), info.readonly ? MPI_T_ERR_PVAR_NO_WRITE : MPI_SUCCESS);
        ok(MPI_T_pvar_handle_free(session, &handle));
        tried++;
    }
    check(tried > 5);
    ok(MPI_T_pvar_session_free(&session));
}

static void settings(void)
{
    MPI_T_cvar_handle cvar;
    int index, count;
    unsigned long long limit = 777, value = 0;
    MPI_T_event_registration registration = add_callback("tool_cvar_set", MPI_COMM_NULL, MPI_T_CB_REQUIRE_NONE, on_set,
                                                         NULL);
    ok(MPI_T_cvar_get_index("p2p_eager_limit", &index));
    ok(MPI_T_cvar_handle_alloc(index, NULL, &cvar, &count));
    ok(MPI_T_cvar_write(cvar, &limit));
    ok(MPI_T_cvar_read(cvar, &value));
    check_equal(value, 777);
    check_equal(called, 1);
    ok(MPI_T_cvar_handle_free(&cvar));
    ok(MPI_T_event_handle_free(registration, NULL, NULL));
}

static void lists(void)
{
    int number = 0, members[512], count;
    ok(MPI_T_category_get_num(&number));
    check(number > 0);
    for (int i = 0; i < number; i++) {
        ok(MPI_T_category_get_info(i, NULL, NULL, NULL, NULL, NULL, &count, NULL));
        ok(MPI_T_category_get_pvars(i, 512, members));
    }
}

int main(int argc, char **argv)
{
    int never = argc > 1 && strcmp(argv[1], "never") == 0, before = argc > 1 && strcmp(argv[1], "before") == 0;
    int total = 0, number = -1;
    if (!never && !before) {
        begin(&argc, &argv);
        MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Finalize();
    }
    check_equal(MPI_T_pvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    tool_begin();
    variables();
    settings();
    lists();
    ok(MPI_T_finalize());
    check_equal(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    check_equal(MPI_T_pvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    if (before) {
        begin(&argc, &argv);
        return finish();
    }
    return verdict(total + wrong);
}
