/* Every new communicator has the error handler of its parent: duplicated in each way, created, split in each way. */
#include "check.h"

static void record(MPI_Comm *comm, int *code, ...)
{
}

int main(int argc, char **argv)
{
    MPI_Comm parent, made[7];
    MPI_Errhandler handler, got;
    MPI_Group group;
    MPI_Request request;
    begin(&argc, &argv);
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
    ok(MPI_Comm_create_errhandler(record, &handler));
    ok(MPI_Comm_set_errhandler(parent, handler));
    ok(MPI_Comm_group(parent, &group));
    ok(MPI_Comm_dup(parent, &made[0]));
    ok(MPI_Comm_dup_with_info(parent, MPI_INFO_NULL, &made[1]));
    ok(MPI_Comm_idup(parent, &made[2], &request));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    ok(MPI_Comm_create(parent, group, &made[3]));
    ok(MPI_Comm_create_group(parent, group, 3, &made[4]));
    ok(MPI_Comm_split(parent, 0, 0, &made[5]));
    ok(MPI_Comm_split_type(parent, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made[6]));
    /* A later handler of the parent is not inherited. */
    ok(MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN));
    for (int i = 0; i < 7; i++) {
        ok(MPI_Comm_get_errhandler(made[i], &got));
        check(got == handler);
        ok(MPI_Errhandler_free(&got));
        ok(MPI_Comm_free(&made[i]));
    }
    ok(MPI_Group_free(&group));
    ok(MPI_Errhandler_free(&handler));
    ok(MPI_Comm_free(&parent));
    return finish();
}
