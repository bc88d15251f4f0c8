/* MPI_Request_get_status returns whether a request is complete and does not free it. */
#include "check.h"

int main(int argc, char **argv)
{
    int word = 0, flag = -1;
    MPI_Request request;
    MPI_Status status;
    begin(&argc, &argv);
    request = MPI_REQUEST_NULL;
    ok(MPI_Request_get_status(request, &flag, &status));
    check(flag);
    check_equal(status.MPI_SOURCE, MPI_ANY_SOURCE);
    check_equal(status.MPI_TAG, MPI_ANY_TAG);
    ok(MPI_Irecv(&word, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request));
    ok(MPI_Request_get_status(request, &flag, &status));
    check(!flag);
    int value = 12;
    ok(MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF));
    for (int again = 0; again < 2; again++) {
        flag = 0;
        while (!flag)
            ok(MPI_Request_get_status(request, &flag, &status));
        check_equal(status.MPI_TAG, 1);
        check(request != MPI_REQUEST_NULL);
    }
    check_equal(word, 12);
    ok(MPI_Test(&request, &flag, &status));
    check(flag && request == MPI_REQUEST_NULL);
    return finish();
}
