/* A new communicator has the error handler that its parent has at that moment; windows and files do not inherit it. */
#include "check.h"

static int calls;
static MPI_Comm last;

static void record(MPI_Comm *comm, int *code, ...)
{
    calls++;
    last = *comm;
}

int main(int argc, char **argv)
{
    MPI_Comm parent, made[6];
    MPI_Group group;
    MPI_Request request;
    MPI_Errhandler handler, found;
    MPI_Win win;
    int word = 0;
    begin(&argc, &argv);
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
    ok(MPI_Comm_create_errhandler(record, &handler));
    ok(MPI_Comm_set_errhandler(parent, handler));
    MPI_Errhandler kept = handler;
    ok(MPI_Errhandler_free(&handler));

    ok(MPI_Comm_dup(parent, &made[0]));
    ok(MPI_Comm_split(parent, rank % 2, 0, &made[1]));
    ok(MPI_Comm_group(parent, &group));
    ok(MPI_Comm_create(parent, group, &made[2]));
    ok(MPI_Comm_create_group(parent, group, 3, &made[3]));
    ok(MPI_Comm_idup(parent, &made[4], &request));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    ok(MPI_Comm_dup_with_info(parent, MPI_INFO_NULL, &made[5]));
    ok(MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, parent, &win));
    ok(MPI_Win_get_errhandler(win, &found));
    check(found == MPI_ERRORS_ARE_FATAL);
    ok(MPI_Win_free(&win));

    /* A later handler of the parent, and the parent's end, do not affect it. */
    ok(MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN));
    check_class(MPI_Send(&word, 1, MPI_INT, -50, 0, parent), MPI_ERR_RANK);
    check_equal(calls, 0);
    ok(MPI_Comm_free(&parent));
    for (int i = 0; i < 6; i++) {
        check_class(MPI_Send(&word, 1, MPI_INT, -50, 0, made[i]), MPI_ERR_RANK);
        check_equal(calls, i + 1);
        check(last == made[i]);
        ok(MPI_Comm_get_errhandler(made[i], &found));
        check(found == kept);
        /* A handler that a get call returned is a valid handle until it is freed. */
        ok(MPI_Comm_set_errhandler(MPI_COMM_SELF, found));
        ok(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
        ok(MPI_Errhandler_free(&found));
        check(found == MPI_ERRHANDLER_NULL);
    }
    for (int i = 0; i < 6; i++)
        ok(MPI_Comm_free(&made[i]));
    /* No object has the handler any more, and the program has freed it. */
    check_class(MPI_Comm_set_errhandler(MPI_COMM_SELF, kept), MPI_ERR_ERRHANDLER);
    ok(MPI_Group_free(&group));
    return finish();
}
