/* A code that a callback of a generalized request returns is the code of the call that has called it: of two
 * callbacks the last one's, MPI_ERR_IN_STATUS with the code in the status for a list. The error handler gets the
 * same code. */
#include "check.h"

static int query_code, free_code, cancel_code, user_code, handled, handled_code;

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    return query_code;
}

static int freeing(void *state)
{
    (void)state;
    return free_code;
}

static int cancel(void *state, int complete)
{
    (void)state, (void)complete;
    return cancel_code;
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    handled++;
    handled_code = *code;
}

static MPI_Request completed(int query_returns, int free_returns)
{
    MPI_Request request;
    query_code = query_returns, free_code = free_returns, handled = 0, handled_code = -1;
    MPI_Grequest_start(query, freeing, cancel, NULL, &request);
    MPI_Grequest_complete(request);
    return request;
}

int main(int argc, char **argv)
{
    int class, flag, in;
    MPI_Errhandler errhandler;
    MPI_Request request, copy, list[2];
    MPI_Status statuses[2];
    begin(&argc, &argv);
    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler);
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &user_code);

    request = completed(user_code, MPI_SUCCESS);
    check_equal(MPI_Wait(&request, MPI_STATUS_IGNORE), user_code);
    check(request == MPI_REQUEST_NULL && handled == 1);
    check_equal(handled_code, user_code);
    request = completed(MPI_ERR_OTHER, user_code);
    check_equal(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), user_code);
    check(request == MPI_REQUEST_NULL && handled == 1);
    request = completed(user_code, MPI_SUCCESS);
    check_equal(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE), user_code);
    check(request != MPI_REQUEST_NULL);
    query_code = MPI_SUCCESS;
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));

    list[0] = completed(MPI_SUCCESS, user_code);
    MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &list[1]);
    MPI_Send(&class, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    statuses[0].MPI_ERROR = statuses[1].MPI_ERROR = -77;
    check_equal(MPI_Waitall(2, list, statuses), MPI_ERR_IN_STATUS);
    check_equal(statuses[0].MPI_ERROR, user_code);
    check_equal(statuses[1].MPI_ERROR, MPI_SUCCESS);
    check(list[0] == MPI_REQUEST_NULL && list[1] == MPI_REQUEST_NULL && handled == 1);

    request = completed(MPI_SUCCESS, user_code);
    check_equal(MPI_Request_free(&request), user_code);
    check(request == MPI_REQUEST_NULL);
    query_code = free_code = MPI_SUCCESS;
    MPI_Grequest_start(query, freeing, cancel, NULL, &request);
    cancel_code = user_code;
    check_equal(MPI_Cancel(&request), user_code);
    copy = request;
    ok(MPI_Request_free(&request));
    free_code = user_code;
    check_equal(MPI_Grequest_complete(copy), user_code);
    check_class(MPI_Grequest_complete(copy), MPI_ERR_REQUEST);
    MPI_Errhandler_free(&errhandler);
    return finish();
}
