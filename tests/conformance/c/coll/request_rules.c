/* The request of a collective operation is neither cancelled nor freed while it is active; a persistent one is started
 * only while it is inactive, and freed only then. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Request request, copy;
    int own = rank, sum = -1, flag = -1;
    MPI_Status status;
    ok(MPI_Iallreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
    copy = request;
    check_class(MPI_Cancel(&request), MPI_ERR_REQUEST);
    check_class(MPI_Request_free(&request), MPI_ERR_REQUEST);
    check(request == copy);
    check_class(MPI_Start(&request), MPI_ERR_REQUEST);
    ok(MPI_Wait(&request, &status));
    check_equal(sum, size * (size - 1) / 2);
    int cancelled = -1;
    ok(MPI_Test_cancelled(&status, &cancelled));
    check_equal(cancelled, 0);
    check(request == MPI_REQUEST_NULL);
    check_class(MPI_Wait(&copy, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);

    ok(MPI_Allreduce_init(&own, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    check_class(MPI_Cancel(&request), MPI_ERR_REQUEST);
    ok(MPI_Test(&request, &flag, &status));
    check(flag && request != MPI_REQUEST_NULL);
    for (int start = 0; start < 3; start++) {
        own = rank + start;
        ok(MPI_Start(&request));
        check_class(MPI_Start(&request), MPI_ERR_REQUEST);
        check_class(MPI_Cancel(&request), MPI_ERR_REQUEST);
        check_class(MPI_Request_free(&request), MPI_ERR_REQUEST);
        ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check_equal(sum, size - 1 + start);
        check(request != MPI_REQUEST_NULL);
    }
    ok(MPI_Request_free(&request));
    check(request == MPI_REQUEST_NULL);

    /* Data that do not fit are an error of the completion, and the operation ends in all processes. */
    if (size > 1) {
        int data[4] = {1, 2, 3, 4};
        ok(MPI_Ibcast(data, rank == 0 ? 4 : 2, MPI_INT, 0, MPI_COMM_WORLD, &request));
        check_class(MPI_Wait(&request, MPI_STATUS_IGNORE), rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
        check(request == MPI_REQUEST_NULL);
        ok(MPI_Barrier(MPI_COMM_WORLD));
    }
    return finish();
}
