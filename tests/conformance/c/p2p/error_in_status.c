/* When one of several operations fails, MPI_Waitall returns MPI_ERR_IN_STATUS and each status holds the code of its
 * own operation. */
#include "check.h"

int main(int argc, char **argv)
{
    int data[3][4], message[4] = {1, 2, 3, 4};
    MPI_Request requests[3];
    MPI_Status statuses[3];
    begin(&argc, &argv);
    return_errors();
    for (int i = 0; i < 3; i++)
        ok(MPI_Irecv(data[i], i == 1 ? 1 : 4, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]));
    for (int i = 0; i < 3; i++)
        MPI_Send(message, 4, MPI_INT, 0, i, MPI_COMM_SELF);
    check_class(MPI_Waitall(3, requests, statuses), MPI_ERR_IN_STATUS);
    check_class(statuses[1].MPI_ERROR, MPI_ERR_TRUNCATE);
    for (int i = 0; i < 3; i += 2) {
        check(statuses[i].MPI_ERROR == MPI_SUCCESS || class_of(statuses[i].MPI_ERROR) == MPI_ERR_PENDING);
        if (statuses[i].MPI_ERROR != MPI_SUCCESS)
            ok(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        check_equal(data[i][3], 4);
    }
    check(requests[1] == MPI_REQUEST_NULL);
    return finish();
}
