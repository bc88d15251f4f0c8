/* A variable of one kind of object is not bound to a handle of another kind, to the null handle, to a freed handle,
 * or to NULL. */
#include "tool/tool.h"

static MPI_T_pvar_session session;

static void refuse_pvar(int index, void *object)
{
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int count = -1, code = MPI_T_pvar_handle_alloc(session, index, object, &handle, &count);
    check_equal(code, MPI_T_ERR_INVALID);
    check(handle == MPI_T_PVAR_HANDLE_NULL && count == -1);
}

static void refuse_cvar(int index, void *object)
{
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int count = -1, code = MPI_T_cvar_handle_alloc(index, object, &handle, &count);
    check_equal(code, MPI_T_ERR_INVALID);
    check(handle == MPI_T_CVAR_HANDLE_NULL && count == -1);
}

static void refuse_event(int index, void *object)
{
    MPI_T_event_registration registration = NULL;
    check_equal(MPI_T_event_handle_alloc(index, object, MPI_INFO_NULL, &registration), MPI_T_ERR_INVALID);
    check(registration == NULL);
}

int main(int argc, char **argv)
{
    MPI_Datatype type;
    MPI_Comm null = MPI_COMM_NULL, world = MPI_COMM_WORLD, freed, comm;
    int number = 0, tried[3] = {0, 0, 0}, bind;
    size_t words[] = {0, 1, 4096, ~(size_t)0};
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_Type_dup(MPI_INT, &type));
    ok(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    freed = comm;
    ok(MPI_Comm_free(&comm));
    void *wrong_ones[] = {&type, &null, &freed, NULL, &words[0], &words[1], &words[2], &words[3]};
    ok(MPI_T_pvar_session_create(&session));
    ok(MPI_T_pvar_get_num(&number));
    for (int i = 0; i < number; i++) {
        bind = pvar_info(i).bind;
        if (bind != MPI_T_BIND_MPI_COMM && bind != MPI_T_BIND_NO_OBJECT)
            refuse_pvar(i, &world);
        for (int w = 0; bind == MPI_T_BIND_MPI_COMM && w < 8; w++)
            refuse_pvar(i, wrong_ones[w]);
        tried[0] += bind == MPI_T_BIND_MPI_COMM;
    }
    ok(MPI_T_cvar_get_num(&number));
    for (int i = 0; i < number; i++) {
        ok(MPI_T_cvar_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL));
        for (int w = 0; bind == MPI_T_BIND_MPI_COMM && w < 8; w++)
            refuse_cvar(i, wrong_ones[w]);
        tried[1] += bind == MPI_T_BIND_MPI_COMM;
    }
    ok(MPI_T_event_get_num(&number));
    for (int i = 0; i < number; i++) {
        ok(MPI_T_event_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind));
        for (int w = 0; bind == MPI_T_BIND_MPI_COMM && w < 8; w++)
            refuse_event(i, wrong_ones[w]);
        tried[2] += bind == MPI_T_BIND_MPI_COMM;
    }
    check(tried[0] > 0 && tried[1] > 0 && tried[2] > 0);
    ok(MPI_Type_free(&type));
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
