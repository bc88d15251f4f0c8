/* An error handler may call MPI: messages, calls that fail on other communicators, and handlers, also itself, to any
 * depth that the handler chooses. */
#include "check.h"

static int depth, calls, inner;
static MPI_Comm other;

static void on_other(MPI_Comm *comm, int *code, ...)
{
    inner++;
}

static void record(MPI_Comm *comm, int *code, ...)
{
    int number = 3, back = -1, saved = *code;
    calls++;
    ok(MPI_Sendrecv(&number, 1, MPI_INT, 0, 1, &back, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    check_equal(back, 3);
    check_class(MPI_Send(&number, -1, MPI_INT, 0, 0, other), MPI_ERR_COUNT);
    if (depth++ < 9)
        ok(MPI_Comm_call_errhandler(*comm, saved));
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    MPI_Comm comm;
    int word = 0;
    begin(&argc, &argv);
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    ok(MPI_Comm_dup(MPI_COMM_SELF, &other));
    ok(MPI_Comm_create_errhandler(on_other, &handler));
    ok(MPI_Comm_set_errhandler(other, handler));
    ok(MPI_Errhandler_free(&handler));
    ok(MPI_Comm_create_errhandler(record, &handler));
    ok(MPI_Comm_set_errhandler(comm, handler));
    ok(MPI_Errhandler_free(&handler));
    check_class(MPI_Send(&word, 1, MPI_INT, size, 0, comm), MPI_ERR_RANK);
    check_equal(calls, 10);
    check_equal(inner, 10);
    ok(MPI_Barrier(comm));
    ok(MPI_Comm_free(&comm));
    ok(MPI_Comm_free(&other));
    return finish();
}
