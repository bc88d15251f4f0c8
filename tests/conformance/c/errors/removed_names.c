/* The names of MPI-1 for error handlers: declared on request, and with the effect of the later ones. */
#define FERRUM_REMOVED_FUNCTIONS
#include "check.h"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static int calls;

static void handler(MPI_Comm *comm, int *code, ...)
{
    calls++;
    check(*comm == MPI_COMM_WORLD);
    check_class(*code, MPI_ERR_RANK);
}

int main(int argc, char **argv)
{
    MPI_Errhandler errhandler, found;
    begin(&argc, &argv);
    ok(MPI_Errhandler_create(handler, &errhandler));
    ok(MPI_Errhandler_set(MPI_COMM_WORLD, errhandler));
    ok(MPI_Errhandler_get(MPI_COMM_WORLD, &found));
    check(found == errhandler);
    check_class(MPI_Send(&calls, 1, MPI_INT, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    check_equal(calls, 1);
    ok(MPI_Errhandler_free(&errhandler));
    ok(MPI_Errhandler_free(&found));
    return finish();
}
