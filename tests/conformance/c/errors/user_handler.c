/* A user's error handler is called once with the communicator and the code, and the call then returns that code. It
 * stays in force after its handle is freed, and a duplicate communicator inherits it. */
#include "check.h"

static int calls, last_code;
static MPI_Comm last_comm;

static void record(MPI_Comm *comm, int *code, ...)
{
    calls++;
    last_comm = *comm;
    last_code = *code;
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler, got;
    MPI_Comm other, child;
    int word = 0, code;
    begin(&argc, &argv);
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    ok(MPI_Comm_create_errhandler(record, &handler));
    ok(MPI_Comm_set_errhandler(other, handler));
    ok(MPI_Comm_get_errhandler(other, &got));
    check(got == handler);
    ok(MPI_Errhandler_free(&got));
    check(got == MPI_ERRHANDLER_NULL);
    ok(MPI_Errhandler_free(&handler));
    check(handler == MPI_ERRHANDLER_NULL);

    code = MPI_Send(&word, 1, MPI_INT, size, 0, other);
    check_class(code, MPI_ERR_RANK);
    check_equal(calls, 1);
    check(last_comm == other);
    check_equal(last_code, code);

    ok(MPI_Comm_dup(other, &child));
    check_class(MPI_Bcast(&word, 1, MPI_INT, -3, child), MPI_ERR_ROOT);
    check_equal(calls, 2);
    check(last_comm == child);

    /* The library also calls it when a request fails. */
    int pair[2] = {1, 2};
    MPI_Request request;
    ok(MPI_Irecv(&word, 1, MPI_INT, rank, 0, child, &request));
    ok(MPI_Send(pair, 2, MPI_INT, rank, 0, child));
    check_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    check_equal(calls, 3);
    check(last_comm == child);

    ok(MPI_Comm_call_errhandler(other, MPI_ERR_OTHER));
    check_equal(calls, 4);
    check_equal(last_code, MPI_ERR_OTHER);
    check(last_comm == other);

    /* An error of another communicator goes to that communicator's handler. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check_class(MPI_Send(&word, 1, MPI_INT, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    check_equal(calls, 4);
    ok(MPI_Comm_free(&child));
    ok(MPI_Comm_free(&other));
    return finish();
}
