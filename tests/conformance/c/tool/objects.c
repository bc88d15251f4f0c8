/* The numbers of objects, error handler calls and uses of a datatype agree with the program's counts. Events of
 * objects reach a restricted callback at once and any other at the end of the call, with their own times. */
#include "events.h"

static int made_at_once, made_later, freed_later, errors_told, user_calls;
static unsigned long long last_made;
static MPI_Count last_time;

static void at_once(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                    void *data)
{
    check_equal(safety, MPI_T_CB_REQUIRE_MPI_RESTRICTED);
    last_made = long_element(instance, 0);
    ok(MPI_T_event_get_timestamp(instance, &last_time));
    made_at_once++;
}

/* This callback may call any function. */
static void later(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                  void *data)
{
    int members = -1;
    MPI_Count time = -1;
    MPI_Comm comm = (MPI_Comm)(size_t)long_element(instance, 0);
    check_equal(safety, MPI_T_CB_REQUIRE_NONE);
    ok(MPI_T_event_get_timestamp(instance, &time));
    check(time >= last_time);
    if (data == &made_later) {
        ok(MPI_Comm_size(comm, &members));
        check(members == size && members == int_element(instance, 2) && rank == int_element(instance, 1));
    }
    ++*(int *)data;
}

static void on_error(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                     void *data)
{
    check_equal(int_element(instance, 0), MPI_ERR_RANK);
    check_equal(class_of(int_element(instance, 1)), MPI_ERR_RANK);
    check_equal(user_calls, errors_told);
    errors_told++;
}

static void user_handler(MPI_Comm *comm, int *code, ...)
{
    check_equal(class_of(*code), MPI_ERR_RANK);
    user_calls++;
}

int main(int argc, char **argv)
{
    MPI_T_pvar_session session;
    MPI_T_event_registration events[4];
    MPI_Errhandler handler, before = MPI_ERRORS_RETURN;
    MPI_T_pvar_handle comms, most, groups, types, ops, handlers, memory, errors, returned, given, uses;
    MPI_Comm dup[3];
    MPI_Group group, pair[2];
    MPI_Datatype type;
    int count, number, index;
    void *block[2];
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    comms = watch(session, "objects_communicators", MPI_T_PVAR_CLASS_LEVEL, MPI_COMM_NULL);
    most = watch(session, "objects_communicators", MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_COMM_NULL);
    groups = watch(session, "objects_groups", MPI_T_PVAR_CLASS_LEVEL, MPI_COMM_NULL);
    types = watch(session, "objects_datatypes", MPI_T_PVAR_CLASS_LEVEL, MPI_COMM_NULL);
    ops = watch(session, "objects_operations", MPI_T_PVAR_CLASS_LEVEL, MPI_COMM_NULL);
    handlers = watch(session, "objects_errhandlers", MPI_T_PVAR_CLASS_LEVEL, MPI_COMM_NULL);
    memory = watch(session, "memory_alloc_mem", MPI_T_PVAR_CLASS_LEVEL, MPI_COMM_NULL);
    errors = watch(session, "errors_raised", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    MPI_Init(&argc, &argv);
    identify();

    events[0] = add_callback("objects_comm_made", MPI_COMM_NULL, MPI_T_CB_REQUIRE_MPI_RESTRICTED, at_once, NULL);
    for (int i = 0; i < 3; i++) {
        ok(MPI_Comm_dup(MPI_COMM_WORLD, &dup[i]));
        check(made_at_once == i + 1 && last_made == (size_t)dup[i]);
        check_equal(read_pvar(session, comms), i + 1);
    }
    ok(MPI_T_event_handle_free(events[0], NULL, NULL));
    for (int i = 0; i < 3; i++)
        ok(MPI_Comm_free(&dup[i]));
    check_equal(read_pvar(session, comms), 0);
    check_equal(read_pvar(session, most), 3);

    events[1] = add_callback("objects_comm_made", MPI_COMM_NULL, MPI_T_CB_REQUIRE_NONE, later, &made_later);
    events[2] = add_callback("objects_comm_freed", MPI_COMM_NULL, MPI_T_CB_REQUIRE_NONE, later, &freed_later);
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &dup[0]));
    check_equal(made_later, 1);
    ok(MPI_Comm_free(&dup[0]));
    check(made_later == 1 && freed_later == 1 && made_at_once == 3);

    ok(MPI_Comm_group(MPI_COMM_WORLD, &group));
    ok(MPI_Comm_group(MPI_COMM_SELF, &pair[0]));
    check_equal(read_pvar(session, groups), 2);
    ok(MPI_Group_free(&group));
    ok(MPI_Group_free(&pair[0]));
    check_equal(read_pvar(session, groups), 0);

    ok(MPI_Alloc_mem(1000, MPI_INFO_NULL, &block[0]));
    ok(MPI_Alloc_mem(24, MPI_INFO_NULL, &block[1]));
    check_equal(read_pvar(session, memory), 1024);
    ok(MPI_Free_mem(block[0]));
    check_equal(read_pvar(session, memory), 24);
    ok(MPI_Free_mem(block[1]));
    check_equal(read_pvar(session, memory), 0);

    /* A datatype, bound by its handle. */
    ok(MPI_Type_dup(MPI_INT, &type));
    check_equal(read_pvar(session, types), 1);
    index = find_pvar("objects_datatype_uses", MPI_T_PVAR_CLASS_COUNTER);
    ok(MPI_T_pvar_handle_alloc(session, index, &type, &uses, &count));
    ok(MPI_T_pvar_start(session, uses));
    for (int i = 0; i < 5; i++)
        ok(MPI_Bcast(&number, 1, type, 0, MPI_COMM_SELF));
    check_equal(read_pvar(session, uses), 5);
    ok(MPI_Type_free(&type));
    check_class(MPI_T_pvar_read(session, uses, &number), MPI_T_ERR_INVALID_HANDLE);
    ok(MPI_T_pvar_handle_free(session, &uses));
    check_equal(read_pvar(session, types), 0);
    check_equal(read_pvar(session, ops), 0);

    /* Error handlers: a user's and a predefined one. */
    events[3] = add_callback("errors_error_raised", MPI_COMM_NULL, MPI_T_CB_REQUIRE_NONE, on_error, NULL);
    ok(MPI_Comm_create_errhandler(user_handler, &handler));
    check_equal(read_pvar(session, handlers), 1);
    index = find_pvar("errors_handler_calls", MPI_T_PVAR_CLASS_COUNTER);
    ok(MPI_T_pvar_handle_alloc(session, index, &handler, &given, &count));
    ok(MPI_T_pvar_handle_alloc(session, index, &before, &returned, &count));
    ok(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    ok(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    for (int i = 0; i < 4; i++)
        check_class(MPI_Send(&number, 1, MPI_INT, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    check(user_calls == 4 && errors_told == 4);
    check(read_pvar(session, given) == 4 && read_pvar(session, returned) == 0 && read_pvar(session, errors) == 4);
    ok(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    user_calls = 5;
    errors_told = 5;
    check_class(MPI_Send(&number, 1, MPI_INT, -9, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    check(read_pvar(session, given) == 4 && read_pvar(session, returned) == 1 && read_pvar(session, errors) == 5);
    ok(MPI_Errhandler_free(&handler));
    check_equal(read_pvar(session, handlers), 0);
    check_class(MPI_T_pvar_read(session, given, &number), MPI_T_ERR_INVALID_HANDLE);
    ok(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    for (int i = 1; i < 4; i++)
        ok(MPI_T_event_handle_free(events[i], NULL, NULL));
    ok(MPI_T_pvar_session_free(&session));
    ok(MPI_T_finalize());
    return finish();
}
