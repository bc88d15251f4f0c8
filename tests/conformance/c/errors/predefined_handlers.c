/* The handler of a new program is MPI_ERRORS_ARE_FATAL; the get call returns the handler that was set; with
 * MPI_ERRORS_RETURN, calling the handler returns success. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Errhandler got;
    begin(&argc, &argv);
    ok(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got));
    check(got == MPI_ERRORS_ARE_FATAL);
    static const MPI_Errhandler handlers[] = {MPI_ERRORS_ABORT, MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN};
    for (int i = 0; i < 3; i++) {
        ok(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handlers[i]));
        ok(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got));
        check(got == handlers[i]);
    }
    ok(MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_TAG));
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    got = MPI_ERRHANDLER_NULL;
    check_class(MPI_Errhandler_free(&got), MPI_ERR_ERRHANDLER);
    return finish();
}
