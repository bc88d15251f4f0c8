/* Attaching an error handler is local: on one communicator one process has a handler of its own, the others another. */
#include "check.h"

static int calls;

static void record(MPI_Comm *comm, int *code, ...)
{
    calls++;
}

int main(int argc, char **argv)
{
    MPI_Comm shared;
    MPI_Errhandler handler, got;
    int word = 0;
    begin(&argc, &argv);
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &shared));
    ok(MPI_Comm_create_errhandler(record, &handler));
    ok(MPI_Comm_set_errhandler(shared, rank == 0 ? handler : MPI_ERRORS_RETURN));
    ok(MPI_Barrier(shared));
    ok(MPI_Comm_get_errhandler(shared, &got));
    check(got == (rank == 0 ? handler : MPI_ERRORS_RETURN));
    ok(MPI_Errhandler_free(&got));
    check_class(MPI_Send(&word, 1, MPI_INT, size, 0, shared), MPI_ERR_RANK);
    check_equal(calls, rank == 0);
    ok(MPI_Errhandler_free(&handler));
    ok(MPI_Comm_free(&shared));
    return finish();
}
