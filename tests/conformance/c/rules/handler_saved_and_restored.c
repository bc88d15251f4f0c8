/* A library saves the caller's error handler, sets its own, and restores the first: an error goes to the handler set
 * at that time. */
#include "check.h"

static int of_caller, of_library;

static void caller(MPI_Comm *comm, int *code, ...)
{
    of_caller++;
}

static void library(MPI_Comm *comm, int *code, ...)
{
    of_library++;
}

static void call_library(MPI_Comm comm)
{
    MPI_Errhandler saved, own;
    int word = 0;
    ok(MPI_Comm_get_errhandler(comm, &saved));
    ok(MPI_Comm_create_errhandler(library, &own));
    ok(MPI_Comm_set_errhandler(comm, own));
    ok(MPI_Errhandler_free(&own));
    check_class(MPI_Send(&word, -1, MPI_INT, 0, 0, comm), MPI_ERR_COUNT);
    ok(MPI_Comm_set_errhandler(comm, saved));
    ok(MPI_Errhandler_free(&saved));
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    int word = 0;
    begin(&argc, &argv);
    ok(MPI_Comm_create_errhandler(caller, &handler));
    ok(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    ok(MPI_Errhandler_free(&handler));
    for (int i = 0; i < 100; i++)
        call_library(MPI_COMM_WORLD);
    check_equal(of_library, 100);
    check_equal(of_caller, 0);
    check_class(MPI_Send(&word, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    check_equal(of_caller, 1);
    return finish();
}
