/* The standard's examples: listing all control variables, reading one by its index, and the handle after freeing. */
#include "tool/tool.h"

static int get_value(int index, MPI_Comm comm, void *value)
{
    int err, count;
    MPI_T_cvar_handle handle;
    err = MPI_T_cvar_handle_alloc(index, &comm, &handle, &count);
    if (err != MPI_SUCCESS)
        return err;
    err = MPI_T_cvar_read(handle, value);
    if (err != MPI_SUCCESS)
        return err;
    err = MPI_T_cvar_handle_free(&handle);
    check(handle == MPI_T_CVAR_HANDLE_NULL);
    return err;
}

/* The example reads the value that another handle has set, of this communicator and not of another. */
static void bound_value(int index)
{
    MPI_T_cvar_handle handle;
    MPI_Comm world = MPI_COMM_WORLD;
    int count = 0, before = -77, own = -77, set = 4321;
    ok(get_value(index, MPI_COMM_SELF, &before));
    ok(MPI_T_cvar_handle_alloc(index, &world, &handle, &count));
    check_equal(count, 1);
    ok(MPI_T_cvar_write(handle, &set));
    ok(get_value(index, MPI_COMM_WORLD, &own));
    check_equal(own, set);
    ok(get_value(index, MPI_COMM_SELF, &own));
    check_equal(own, before);
    set = -1;
    ok(MPI_T_cvar_write(handle, &set));
    ok(get_value(index, MPI_COMM_WORLD, &own));
    check_equal(own, -1);
    ok(MPI_T_cvar_handle_free(&handle));
}

int main(int argc, char **argv)
{
    int num = 0, bound = 0, support, length, bind, verbose, scope, index;
    static char value[65536];
    char name[100];
    MPI_Datatype datatype;
    begin(&argc, &argv);
    ok(MPI_T_init_thread(MPI_THREAD_SINGLE, &support));
    ok(MPI_T_cvar_get_num(&num));
    for (int i = 0; i < num; i++) {
        length = sizeof name;
        ok(MPI_T_cvar_get_info(i, name, &length, &verbose, &datatype, NULL, NULL, NULL, &bind, &scope));
        check(length > 1 && name[0] != 0);
        ok(MPI_T_cvar_get_index(name, &index));
        check_equal(index, i);
        if (bind == MPI_T_BIND_NO_OBJECT || bind == MPI_T_BIND_MPI_COMM)
            ok(get_value(i, MPI_COMM_WORLD, value));
        bound += bind == MPI_T_BIND_MPI_COMM;
    }
    check(bound > 0);
    ok(MPI_T_cvar_get_index("p2p_comm_eager_limit", &index));
    bound_value(index);
    check_equal(MPI_T_cvar_get_index("no such variable", &index), MPI_T_ERR_INVALID_NAME);
    check_equal(MPI_T_category_get_index("no such category", &index), MPI_T_ERR_INVALID_NAME);

    MPI_T_pvar_session session;
    ok(MPI_T_pvar_session_create(&session));
    MPI_T_pvar_handle handle = watch(session, "MPI_T_UMQ_LENGTH", MPI_T_PVAR_CLASS_LEVEL, MPI_COMM_WORLD);
    ok(MPI_T_pvar_handle_free(session, &handle));
    check(handle == MPI_T_PVAR_HANDLE_NULL);
    ok(MPI_T_pvar_session_free(&session));
    check(session == MPI_T_PVAR_SESSION_NULL);
    /* A variable without an object: the object argument is ignored. */
    ok(MPI_T_pvar_session_create(&session));
    ok(MPI_T_pvar_get_num(&num));
    for (int i = 0; i < num; i++) {
        int count = 0;
        if (pvar_info(i).bind != MPI_T_BIND_NO_OBJECT)
            continue;
        ok(MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &count));
        ok(MPI_T_pvar_handle_free(session, &handle));
        ok(MPI_T_pvar_handle_alloc(session, i, name, &handle, &count));
        ok(MPI_T_pvar_handle_free(session, &handle));
    }
    ok(MPI_T_pvar_session_free(&session));
    ok(MPI_T_finalize());
    return finish();
}
