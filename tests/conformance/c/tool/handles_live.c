/* The numbers of a tool's handles, sessions and registrations and of the program's info objects, sessions and files
 * agree with the program's counts. */
#include "events.h"
#include "file/file.h"

#define LEVEL MPI_T_PVAR_CLASS_LEVEL
#define MOST MPI_T_PVAR_CLASS_HIGHWATERMARK

static MPI_T_pvar_session session;

static MPI_T_pvar_handle level(const char *name)
{
    return watch(session, name, LEVEL, MPI_COMM_NULL);
}

static void tools(void)
{
    MPI_T_pvar_session others[3];
    MPI_T_pvar_handle handles[20];
    MPI_T_cvar_handle cvars[7];
    MPI_T_event_registration events[4];
    int count, index;
    MPI_T_pvar_handle sessions = level("tool_pvar_sessions"), all = level("tool_pvar_handles");
    MPI_T_pvar_handle settings = level("tool_cvar_handles"), listening = level("tool_event_registrations");
    MPI_T_pvar_handle most = watch(session, "tool_pvar_handles", MOST, MPI_COMM_NULL);
    check_equal(read_pvar(session, sessions), 1);
    check_equal(read_pvar(session, all), 5);
    for (int i = 0; i < 3; i++)
        ok(MPI_T_pvar_session_create(&others[i]));
    check_equal(read_pvar(session, sessions), 4);
    for (int i = 0; i < 20; i++)
        handles[i] = watch(i < 10 ? session : others[0], "p2p_polls", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    check_equal(read_pvar(session, all), 25);
    check_equal(MPI_T_pvar_handle_free(others[1], &handles[0]), MPI_T_ERR_INVALID_HANDLE);
    for (int i = 0; i < 4; i++)
        ok(MPI_T_pvar_handle_free(session, &handles[i]));
    check_equal(read_pvar(session, all), 21);
    /* The handles of a session are freed with it. */
    ok(MPI_T_pvar_session_free(&others[0]));
    check_equal(read_pvar(session, all), 11);
    check_equal(read_pvar(session, most), 25);
    check_equal(read_pvar(session, sessions), 3);
    for (int i = 1; i < 3; i++)
        ok(MPI_T_pvar_session_free(&others[i]));
    check_equal(read_pvar(session, sessions), 1);

    ok(MPI_T_cvar_get_index("p2p_eager_limit", &index));
    for (int i = 0; i < 7; i++) {
        ok(MPI_T_cvar_handle_alloc(index, NULL, &cvars[i], &count));
        check_equal(read_pvar(session, settings), i + 1);
    }
    for (int i = 0; i < 7; i++)
        ok(MPI_T_cvar_handle_free(&cvars[i]));
    check_equal(read_pvar(session, settings), 0);

    ok(MPI_T_event_get_index("tool_cvar_set", &index));
    for (int i = 0; i < 4; i++) {
        ok(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &events[i]));
        check_equal(read_pvar(session, listening), i + 1);
    }
    for (int i = 0; i < 4; i++)
        ok(MPI_T_event_handle_free(events[i], NULL, NULL));
    check_equal(read_pvar(session, listening), 0);
}

static void objects(void)
{
    MPI_Info infos[3];
    MPI_Session begun[2];
    MPI_File files[3];
    char folder[NAME], name[NAME + 16];
    MPI_T_pvar_handle keys = level("objects_infos"), most_keys = watch(session, "objects_infos", MOST, MPI_COMM_NULL);
    MPI_T_pvar_handle sessions = level("objects_sessions"), open = level("objects_files");
    MPI_T_pvar_handle most_open = watch(session, "objects_files", MOST, MPI_COMM_NULL);
    unsigned long long before = read_pvar(session, keys);
    ok(MPI_Info_create(&infos[0]));
    ok(MPI_Info_dup(infos[0], &infos[1]));
    ok(MPI_Comm_get_info(MPI_COMM_WORLD, &infos[2]));
    check_equal(read_pvar(session, keys), before + 3);
    for (int i = 0; i < 3; i++)
        ok(MPI_Info_free(&infos[i]));
    check_equal(read_pvar(session, keys), before);
    check_equal(read_pvar(session, most_keys), before + 3);

    for (int i = 0; i < 2; i++) {
        ok(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &begun[i]));
        check_equal(read_pvar(session, sessions), i + 1);
    }
    for (int i = 0; i < 2; i++)
        ok(MPI_Session_finalize(&begun[i]));
    check_equal(read_pvar(session, sessions), 0);

    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s-%d-%d", name_of(folder, "live"), rank, i);
        ok(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE,
                         MPI_INFO_NULL, &files[i]));
        check_equal(read_pvar(session, open), i + 1);
        if (i == 1)
            check_class(MPI_File_open(MPI_COMM_SELF, "/no/such/place", MPI_MODE_RDONLY, MPI_INFO_NULL, &files[2]),
                        MPI_ERR_NO_SUCH_FILE);
    }
    for (int i = 0; i < 3; i++)
        ok(MPI_File_close(&files[i]));
    check_equal(read_pvar(session, open), 0);
    check_equal(read_pvar(session, most_open), 3);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    tools();
    objects();
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
