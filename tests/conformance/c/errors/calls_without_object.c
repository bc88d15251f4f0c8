/* An error of a call that has no communicator goes to the handler of MPI_COMM_SELF, or to that of MPI_COMM_WORLD while
 * the program has set none for MPI_COMM_SELF. */
#include "check.h"

static int calls;
static MPI_Comm last_comm;

static void record(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    calls++;
    last_comm = *comm;
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    int bytes;
    begin(&argc, &argv);
    ok(MPI_Comm_create_errhandler(record, &handler));
    ok(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    check_class(MPI_Type_size(MPI_DATATYPE_NULL, &bytes), MPI_ERR_TYPE);
    check_equal(calls, 1);
    check(last_comm == MPI_COMM_WORLD);
    calls = 0;
    ok(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    ok(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
    check_class(MPI_Type_size(MPI_DATATYPE_NULL, &bytes), MPI_ERR_TYPE);
    check_equal(calls, 1);
    check(last_comm == MPI_COMM_SELF);
    check_class(MPI_Comm_rank(MPI_COMM_NULL, &bytes), MPI_ERR_COMM);
    check_equal(calls, 2);
    ok(MPI_Errhandler_free(&handler));
    return finish();
}
