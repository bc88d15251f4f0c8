/* The duplicate exists once its request is complete, before any call uses it: the tool interface binds to it. The
 * use of one that is not complete is an error; a copy callback that fails leaves no duplicate, and the other ranks'
 * duplicates are complete. */
#include "../tool/tool.h"

static int refuse(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_ERR_KEYVAL;
}

int main(int argc, char **argv)
{
    MPI_Comm copy = MPI_COMM_NULL, parent;
    MPI_Request request = MPI_REQUEST_NULL, used;
    MPI_T_pvar_session session;
    int word = 0, key, result = -1;
    begin(&argc, &argv);
    return_errors();
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));

    /* Rank 0 makes its call after the others have tried to use their duplicates. */
    if (rank > 0) {
        ok(MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request));
        check_class(MPI_Isend(&word, 1, MPI_INT, 0, 0, copy, &used), MPI_ERR_COMM);
        ok(MPI_Send(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    } else {
        for (int i = 1; i < size; i++)
            ok(MPI_Recv(&word, 1, MPI_INT, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        ok(MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request));
    }
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_T_pvar_handle handle = watch(session, "p2p_messages_sent", MPI_T_PVAR_CLASS_COUNTER, copy);
    unsigned long long sent = 7;
    ok(MPI_Send(&word, 1, MPI_INT, MPI_PROC_NULL, 0, copy));
    ok(MPI_T_pvar_read(session, handle, &sent));
    ok(MPI_T_pvar_handle_free(session, &handle));
    ok(MPI_Comm_compare(copy, MPI_COMM_WORLD, &result));
    check_equal(result, MPI_CONGRUENT);

    /* The callback fails in the last rank only, before and after the context id can have arrived. */
    ok(MPI_Comm_dup(copy, &parent));
    ok(MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    if (rank == size - 1)
        ok(MPI_Comm_set_attr(parent, key, &word));
    for (int i = 0; i < 200; i++) {
        MPI_Comm refused = MPI_COMM_NULL;
        request = MPI_REQUEST_NULL;
        if (i % 2)
            ok(MPI_Barrier(MPI_COMM_WORLD));
        int code = MPI_Comm_idup(parent, &refused, &request);
        if (rank == size - 1) {
            check_class(code, MPI_ERR_KEYVAL);
        } else {
            ok(code);
            ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
            ok(MPI_Comm_free(&refused));
        }
    }
    if (rank == size - 1)
        ok(MPI_Comm_delete_attr(parent, key));
    ok(MPI_Comm_free_keyval(&key));
    /* The parent may be freed before its duplicate is complete. */
    MPI_Comm last;
    ok(MPI_Comm_idup(parent, &last, &request));
    ok(MPI_Comm_free(&parent));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    ok(MPI_Barrier(last));
    ok(MPI_Comm_free(&last));
    ok(MPI_Comm_free(&copy));
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
