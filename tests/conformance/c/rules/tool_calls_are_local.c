/* No call of the tool interface waits for another process: rank 0 makes all of them while the others wait for a
 * signal that it sends afterwards. */
#define _POSIX_C_SOURCE 200809L
#include "tool/events.h"
#include <signal.h>
#include <unistd.h>

enum { MOST_RANKS = 64 };

static int called;

static void on_set(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                   void *data)
{
    unsigned char copy[64];
    MPI_Count time;
    int source;
    called++;
    int_element(instance, 0);
    ok(MPI_T_event_copy(instance, copy));
    ok(MPI_T_event_get_timestamp(instance, &time));
    ok(MPI_T_event_get_source(instance, &source));
    ok(MPI_T_source_get_timestamp(source, &time));
}

static void inquiry(void)
{
    int number = 0, members[500], count;
    ok(MPI_T_category_get_num(&number));
    for (int i = 0; i < number; i++) {
        ok(MPI_T_category_get_info(i, NULL, NULL, NULL, NULL, &count, NULL, NULL));
        ok(MPI_T_category_get_num_events(i, &count));
        ok(MPI_T_category_get_cvars(i, 500, members));
        ok(MPI_T_category_get_pvars(i, 500, members));
        ok(MPI_T_category_get_categories(i, 500, members));
        ok(MPI_T_category_get_events(i, 500, members));
    }
    ok(MPI_T_category_get_index("p2p", &number));
    ok(MPI_T_source_get_num(&number));
    for (int i = 0; i < number; i++)
        ok(MPI_T_source_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    ok(MPI_T_event_get_num(&number));
    for (int i = 0; i < number; i++)
        ok(MPI_T_event_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
}

/* Every writable control variable is set to its own value, and raises an event. */
static void settings(void)
{
    MPI_T_event_registration registration = add_callback("tool_cvar_set", MPI_COMM_NULL, MPI_T_CB_REQUIRE_NONE, on_set,
                                                         NULL);
    MPI_Comm comm = MPI_COMM_WORLD;
    static char value[65536];
    MPI_Info info;
    int number = 0, count, written = 0, items, bind;
    ok(MPI_T_cvar_get_num(&number));
    for (int i = 0; i < number; i++) {
        MPI_T_cvar_handle handle;
        MPI_T_enum names;
        ok(MPI_T_cvar_get_info(i, NULL, NULL, NULL, NULL, &names, NULL, NULL, &bind, NULL));
        if (names != MPI_T_ENUM_NULL)
            ok(MPI_T_enum_get_info(names, &items, NULL, NULL));
        if (names != MPI_T_ENUM_NULL)
            ok(MPI_T_enum_get_item(names, 0, &items, NULL, NULL));
        if (bind != MPI_T_BIND_NO_OBJECT && bind != MPI_T_BIND_MPI_COMM)
            continue;
        ok(MPI_T_cvar_handle_alloc(i, &comm, &handle, &count));
        ok(MPI_T_cvar_read(handle, value));
        written += MPI_T_cvar_write(handle, value) == MPI_SUCCESS;
        ok(MPI_T_cvar_handle_free(&handle));
    }
    check(written > 0);
    check_equal(called, written);
    ok(MPI_T_event_handle_get_info(registration, &info));
    ok(MPI_T_event_handle_set_info(registration, info));
    ok(MPI_T_event_callback_set_info(registration, MPI_T_CB_REQUIRE_NONE, info));
    ok(MPI_Info_free(&info));
    ok(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, &info));
    ok(MPI_Info_free(&info));
    ok(MPI_T_event_set_dropped_handler(registration, NULL));
    ok(MPI_T_event_handle_free(registration, NULL, NULL));
}

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
        MPI_T_pvar_write(session, handle, value);
        MPI_T_pvar_readreset(session, handle, value);
        MPI_T_pvar_reset(session, handle);
        MPI_T_pvar_stop(session, handle);
        ok(MPI_T_pvar_handle_free(session, &handle));
    }
    ok(MPI_T_pvar_session_free(&session));
    inquiry();
    settings();
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
