/* The launcher's initial error handler takes errors while there is no MPI_COMM_SELF, and the predefined
 * communicators begin with it. */
#include "check.h"

int main(int argc, char **argv)
{
    int flag, word = 0;
    MPI_Errhandler handler;
    MPI_Win win;
    /* Before MPI_Init. */
    check_class(MPI_Comm_rank(MPI_COMM_WORLD, &flag), MPI_ERR_OTHER);
    check_class(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_OTHER);
    begin(&argc, &argv);
    ok(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler));
    check(handler == MPI_ERRORS_RETURN);
    ok(MPI_Comm_get_errhandler(MPI_COMM_SELF, &handler));
    check(handler == MPI_ERRORS_RETURN);
    check_class(MPI_Send(&word, 1, MPI_INT, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    check_class(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    /* A window begins with the fatal handler, whatever its communicator has. */
    ok(MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    ok(MPI_Win_get_errhandler(win, &handler));
    check(handler == MPI_ERRORS_ARE_FATAL);
    ok(MPI_Win_free(&win));
    int total = 0;
    MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    /* The handler of MPI_COMM_SELF ends with it: afterwards it is the initial one again. */
    ok(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    ok(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    ok(MPI_Finalize());
    check_class(MPI_Comm_rank(MPI_COMM_WORLD, &flag), MPI_ERR_OTHER);
    check_class(MPI_Comm_rank(MPI_COMM_NULL, &flag), MPI_ERR_OTHER);
    check_class(MPI_Finalize(), MPI_ERR_OTHER);
    return verdict(total + wrong);
}
