/* Errors about a session go to its handler, with its handle; those of calls that create an object to the handler
 * passed to the call; bad arguments are errors and change nothing. */
#include "session.h"

static MPI_Session seen = MPI_SESSION_NULL;
static MPI_Comm seen_comm;
static int calls, last;

static void take(MPI_Session *session, int *code, ...)
{
    seen = *session;
    calls++;
    last = class_of(*code);
}

static void take_comm(MPI_Comm *comm, int *code, ...)
{
    seen_comm = *comm;
    calls++;
    last = class_of(*code);
}

/* The call fails with this class, and the handler was called once. */
#define raises(call, class)                                                                                            \
    do {                                                                                                               \
        int before = calls;                                                                                            \
        check_class(call, class);                                                                                      \
        check_equal(calls, before + 1);                                                                                \
        check_equal(last, class);                                                                                      \
    } while (0)

int main(void)
{
    MPI_Errhandler handler, for_comm, got;
    MPI_Session session = MPI_SESSION_NULL, other = MPI_SESSION_NULL;
    MPI_Info info, bad;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    char value[MPI_MAX_INFO_VAL], name[MPI_MAX_PSET_NAME_LEN];
    int flag = -1, length, count = -1;
    ok(MPI_Session_create_errhandler(take, &handler));
    ok(MPI_Info_create(&bad));
    ok(MPI_Info_set(bad, "thread_level", "MPI_THREAD_SOME"));
    raises(MPI_Session_init(bad, handler, &other), MPI_ERR_ARG);
    check(other == MPI_SESSION_NULL && seen == MPI_SESSION_NULL);
    raises(MPI_Session_init((MPI_Info)0x7000000, handler, &other), MPI_ERR_INFO);

    /* The requested level is provided and reported. */
    const char *levels[] = { "MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED",
                             "MPI_THREAD_MULTIPLE" };
    for (int i = 0; i < 4; i++) {
        ok(MPI_Info_set(bad, "thread_level", levels[i]));
        ok(MPI_Session_init(bad, handler, &session));
        ok(MPI_Session_get_info(session, &info));
        ok(MPI_Info_get(info, "thread_level", sizeof value - 1, value, &flag));
        check(flag && strcmp(value, levels[i]) == 0);
        ok(MPI_Info_get(info, "mpi_memory_alloc_kinds", sizeof value - 1, value, &flag));
        check(flag && strstr(value, "mpi") && strstr(value, "system"));
        ok(MPI_Info_free(&info));
        if (i < 3)
            ok(MPI_Session_finalize(&session));
    }
    ok(MPI_Info_free(&bad));
    ok(MPI_Session_get_errhandler(session, &got));
    check(got == handler);
    ok(MPI_Errhandler_free(&got));

    raises(MPI_Session_get_pset_info(session, "mpi://NOBODY", &info), MPI_ERR_ARG);
    check(seen == session);
    length = sizeof name;
    strcpy(name, "as it was");
    raises(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 2, &length, name), MPI_ERR_ARG);
    raises(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, -1, &length, name), MPI_ERR_ARG);
    check(length == (int)sizeof name && strcmp(name, "as it was") == 0);
    raises(MPI_Session_get_num_psets(session, (MPI_Info)0x7000000, &count), MPI_ERR_INFO);
    raises(MPI_Session_get_num_psets(session, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    raises(MPI_Group_from_session_pset(session, NULL, &group), MPI_ERR_ARG);
    raises(MPI_Session_call_errhandler(session, MPI_ERR_IO) == MPI_SUCCESS ? MPI_ERR_IO : 0, MPI_ERR_IO);
    /* A set that does not exist has no group, and is an error. */
    group = MPI_GROUP_EMPTY;
    raises(MPI_Group_from_session_pset(session, "mpi://NOBODY", &group), MPI_ERR_ARG);
    check(group == MPI_GROUP_NULL);

    ok(MPI_Comm_create_errhandler(take_comm, &for_comm));
    seen_comm = MPI_COMM_WORLD;
    raises(MPI_Comm_create_from_group(MPI_GROUP_NULL, "tag", MPI_INFO_NULL, for_comm, &comm), MPI_ERR_GROUP);
    check(seen_comm == MPI_COMM_NULL);
    group = group_of(session, "mpi://WORLD");
    static char long_tag[MPI_MAX_STRINGTAG_LEN + 1];
    memset(long_tag, 'x', MPI_MAX_STRINGTAG_LEN);
    raises(MPI_Comm_create_from_group(group, long_tag, MPI_INFO_NULL, for_comm, &comm), MPI_ERR_ARG);
    raises(MPI_Comm_create_from_group(group, "tag", (MPI_Info)0x7000000, for_comm, &comm), MPI_ERR_INFO);
    check(comm == MPI_COMM_NULL);
    /* The longest tag, hints, and a handler that is the new communicator's. */
    long_tag[MPI_MAX_STRINGTAG_LEN - 1] = 0;
    ok(MPI_Info_create(&info));
    ok(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    ok(MPI_Comm_create_from_group(group, long_tag, info, for_comm, &comm));
    ok(MPI_Info_free(&info));
    ok(MPI_Comm_get_info(comm, &info));
    ok(MPI_Info_get(info, "mpi_assert_no_any_tag", sizeof value - 1, value, &flag));
    check(flag && strcmp(value, "true") == 0);
    ok(MPI_Info_free(&info));
    raises(MPI_Send(NULL, -1, MPI_INT, 0, 0, comm), MPI_ERR_COUNT);
    check(seen_comm == comm);
    ok(MPI_Errhandler_free(&for_comm));

    ok(MPI_Comm_rank(comm, &rank));
    if (rank > 0) {
        /* A group that this process is not in. */
        MPI_Group first;
        MPI_Comm none = MPI_COMM_NULL;
        int zero = 0;
        ok(MPI_Group_incl(group, 1, &zero, &first));
        check_class(MPI_Comm_create_from_group(first, "first", MPI_INFO_NULL, MPI_ERRORS_RETURN, &none), MPI_ERR_GROUP);
        check(none == MPI_COMM_NULL);
        ok(MPI_Group_free(&first));
    }
    ok(MPI_Group_free(&group));
    ok(MPI_Errhandler_free(&handler));
    int result = judge(comm);
    ok(MPI_Comm_free(&comm));
    ok(MPI_Session_finalize(&session));
    return result;
}
