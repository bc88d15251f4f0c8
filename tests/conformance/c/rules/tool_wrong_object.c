/* A variable of one kind of object is not bound to a handle of another kind, to the null handle, or to NULL. */
#include "tool/tool.h"

int main(int argc, char **argv)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    MPI_Datatype type;
    MPI_Comm null = MPI_COMM_NULL, world = MPI_COMM_WORLD, freed, comm;
    int number = 0, count = -1, tried = 0;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_Type_dup(MPI_INT, &type));
    ok(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    freed = comm;
    ok(MPI_Comm_free(&comm));
    ok(MPI_T_pvar_session_create(&session));
    ok(MPI_T_pvar_get_num(&number));
    for (int i = 0; i < number; i++) {
        int bind = pvar_info(i).bind;
        if (bind != MPI_T_BIND_MPI_COMM && bind != MPI_T_BIND_NO_OBJECT)
            check(MPI_T_pvar_handle_alloc(session, i, &world, &handle, &count) != MPI_SUCCESS);
        if (bind != MPI_T_BIND_MPI_COMM)
            continue;
        tried++;
        check(MPI_T_pvar_handle_alloc(session, i, &type, &handle, &count) != MPI_SUCCESS);
        check(MPI_T_pvar_handle_alloc(session, i, &null, &handle, &count) != MPI_SUCCESS);
        check(MPI_T_pvar_handle_alloc(session, i, &freed, &handle, &count) != MPI_SUCCESS);
        check(MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &count) != MPI_SUCCESS);
    }
    check(tried > 0);
    check(handle == MPI_T_PVAR_HANDLE_NULL && count == -1);
    ok(MPI_T_cvar_get_num(&number));
    for (int i = 0; i < number; i++) {
        MPI_T_cvar_handle cvar = MPI_T_CVAR_HANDLE_NULL;
        int bind;
        ok(MPI_T_cvar_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL));
        if (bind != MPI_T_BIND_MPI_COMM)
            continue;
        check(MPI_T_cvar_handle_alloc(i, &type, &cvar, &count) != MPI_SUCCESS);
        check(MPI_T_cvar_handle_alloc(i, &null, &cvar, &count) != MPI_SUCCESS);
        check(MPI_T_cvar_handle_alloc(i, NULL, &cvar, &count) != MPI_SUCCESS);
        check(cvar == MPI_T_CVAR_HANDLE_NULL);
    }
    ok(MPI_Type_free(&type));
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
