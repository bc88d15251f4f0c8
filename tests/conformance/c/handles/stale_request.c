/* A copy of a request's handle is refused once the request has completed, however often its slot was used again. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return_errors();
    for (int i = 0; i < 5000; i++) {
        int value = i, got = -1, flag;
        MPI_Request requests[2], copies[2];
        ok(MPI_Irecv(&got, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[0]));
        ok(MPI_Isend(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[1]));
        memcpy(copies, requests, sizeof copies);
        ok(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        check_equal(got, i);
        check_class(MPI_Wait(&copies[0], MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
        check_class(MPI_Test(&copies[0], &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    }
    return finish();
}
