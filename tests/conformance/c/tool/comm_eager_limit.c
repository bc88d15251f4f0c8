/* Each communicator can have an eager limit of its own: it applies to the messages on that communicator, from the
 * next one on, and ends with it. Otherwise the limit of the process applies. The environment sets the initial value
 * of all communicators. */
#include "tool.h"

static MPI_T_pvar_session session;
static MPI_T_pvar_handle eager, offered;
static int changes = 0, index_of_limit = -1;

/* Sends one message and returns whether it was eager (1) or offered (0). */
static int whole(MPI_Comm comm, int length)
{
    static char data[4096];
    if (rank == 1) {
        ok(MPI_Recv(data, length, MPI_CHAR, 0, 0, comm, MPI_STATUS_IGNORE));
        return -1;
    }
    unsigned long long before[2] = {read_pvar(session, eager), read_pvar(session, offered)};
    ok(MPI_Send(data, length, MPI_CHAR, 1, 0, comm));
    unsigned long long sent = read_pvar(session, eager) - before[0];
    unsigned long long rendezvous = read_pvar(session, offered) - before[1];
    check_equal(sent + rendezvous, 1);
    return (int)sent;
}

static void sends(MPI_Comm comm, int length, int expected)
{
    int went = whole(comm, length);
    if (rank == 0)
        check_equal(went, expected);
}

static MPI_T_cvar_handle limit_of(MPI_Comm comm)
{
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int count = 0;
    ok(MPI_T_cvar_handle_alloc(index_of_limit, &comm, &handle, &count));
    check_equal(count, 1);
    return handle;
}

static int value_of(MPI_T_cvar_handle handle)
{
    int value = -77;
    ok(MPI_T_cvar_read(handle, &value));
    return value;
}

static void set(MPI_T_cvar_handle handle, int limit)
{
    ok(MPI_T_cvar_write(handle, &limit));
    check_equal(value_of(handle), limit);
}

static void changed(MPI_T_event_instance event, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                    void *data)
{
    int which = -1;
    (void)registration, (void)safety, (void)data;
    ok(MPI_T_event_read(event, 0, &which));
    changes += which == index_of_limit;
}

static void has_a_name_a_type_and_a_scope(void)
{
    MPI_Datatype type;
    int bind = -1, scope = -1;
    ok(MPI_T_cvar_get_index("p2p_comm_eager_limit", &index_of_limit));
    ok(MPI_T_cvar_get_info(index_of_limit, NULL, NULL, NULL, &type, NULL, NULL, NULL, &bind, &scope));
    check_equal(bind, MPI_T_BIND_MPI_COMM);
    check_equal(scope, MPI_T_SCOPE_LOCAL);
    check(type == MPI_INT);
}

static MPI_T_event_registration listen(void)
{
    MPI_T_event_registration registration;
    int event = -1;
    ok(MPI_T_event_get_index("tool_cvar_set", &event));
    ok(MPI_T_event_handle_alloc(event, NULL, MPI_INFO_NULL, &registration));
    ok(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, changed));
    return registration;
}

/* The process's limit is 1000; each communicator has its own limit. */
static void each_for_itself(MPI_Comm a, MPI_Comm b, MPI_T_cvar_handle of_a, MPI_T_cvar_handle of_b)
{
    sends(a, 1000, 1);
    sends(b, 1001, 0);
    set(of_a, 0);
    check_equal(value_of(of_b), -1);
    sends(a, 0, 1);
    sends(a, 1, 0);
    sends(b, 1000, 1);
    sends(MPI_COMM_WORLD, 1000, 1);
    set(of_b, 2000);
    sends(b, 2000, 1);
    sends(b, 2001, 0);
    sends(MPI_COMM_WORLD, 2000, 0);
    set(of_b, -1);
    sends(b, 1001, 0);
}

static void takes_no_other_value(MPI_T_cvar_handle handle)
{
    int before = value_of(handle), out_of_range[] = {-2, (1 << 30) + 1, -2147483647 - 1};
    for (int i = 0; i < 3; i++)
        check_equal(MPI_T_cvar_write(handle, &out_of_range[i]), MPI_T_ERR_INVALID);
    check_equal(value_of(handle), before);
}

/* The communicator is freed: its handle is invalid, and the next communicator has the initial value. */
static void goes_with_its_communicator(MPI_Comm *a, MPI_T_cvar_handle of_a, int initial)
{
    MPI_Comm next;
    MPI_T_cvar_handle of_next;
    int value = 5, count;
    ok(MPI_Comm_dup(*a, &next));
    of_next = limit_of(next);
    check_equal(value_of(of_next), initial);
    ok(MPI_T_cvar_handle_free(&of_next));
    ok(MPI_Comm_free(&next));
    MPI_Comm freed = *a;
    ok(MPI_Comm_free(a));
    check_equal(MPI_T_cvar_read(of_a, &value), MPI_T_ERR_INVALID_HANDLE);
    check_equal(MPI_T_cvar_write(of_a, &value), MPI_T_ERR_INVALID_HANDLE);
    check(MPI_T_cvar_handle_alloc(index_of_limit, &freed, &of_next, &count) != MPI_SUCCESS);
    check(MPI_T_cvar_handle_alloc(index_of_limit, NULL, &of_next, &count) != MPI_SUCCESS);
    for (int i = 0; i < 20; i++) {
        ok(MPI_Comm_dup(MPI_COMM_WORLD, &next));
        of_next = limit_of(next);
        check_equal(value_of(of_next), initial);
        sends(next, initial < 0 ? 1000 : initial, 1);
        sends(next, initial < 0 ? 1001 : initial + 1, 0);
        set(of_next, 3);
        sends(next, 4, 0);
        ok(MPI_Comm_free(&next));
        if (i % 2)
            ok(MPI_T_cvar_handle_free(&of_next));
    }
    ok(MPI_T_cvar_handle_free(&of_a));
}

int main(int argc, char **argv)
{
    const char *environment = getenv("FERRUM_P2P_COMM_EAGER_LIMIT");
    int initial = environment ? atoi(environment) : -1, index, count;
    unsigned long long thousand = 1000;
    MPI_Comm a, b;
    MPI_T_cvar_handle process;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    eager = watch(session, "p2p_eager_sent", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    offered = watch(session, "p2p_rendezvous_sent", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    ok(MPI_T_cvar_get_index("p2p_eager_limit", &index));
    ok(MPI_T_cvar_handle_alloc(index, NULL, &process, &count));
    has_a_name_a_type_and_a_scope();
    MPI_T_event_registration registration = listen();
    ok(MPI_T_cvar_write(process, &thousand));
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &a));
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &b));
    MPI_T_cvar_handle of_world = limit_of(MPI_COMM_WORLD), of_a = limit_of(a), of_b = limit_of(b);
    check_equal(value_of(of_world), initial);
    check_equal(value_of(of_a), initial);
    set(of_world, -1);
    set(of_a, -1);
    set(of_b, -1);
    each_for_itself(a, b, of_a, of_b);
    takes_no_other_value(of_b);
    check_equal(changes, 6);
    goes_with_its_communicator(&a, of_a, initial);
    ok(MPI_Comm_free(&b));
    ok(MPI_T_event_handle_free(registration, NULL, NULL));
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
