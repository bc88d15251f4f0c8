/* Errors of partitioned communication, none of which marks a partition: partitions out of range, twice ready, ready
 * before the start; requests of another kind; a start of an active one; a cancel; a free with partitions that are
 * not ready; wildcards; a message that is longer than the receiver's buffer. */
#include "check.h"

int main(int argc, char **argv)
{
    int out[4] = {1, 2, 3, 4}, in[4] = {0}, flag, twice[3] = {2, 0, 2};
    MPI_Request send, receive, other;
    MPI_Status status;
    begin(&argc, &argv);
    return_errors();
    check_class(MPI_Psend_init(out, -1, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &send), MPI_ERR_ARG);
    check_class(MPI_Psend_init(out, 2, -1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &send), MPI_ERR_COUNT);
    check_class(MPI_Psend_init(NULL, 2, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &send), MPI_ERR_BUFFER);
    check_class(MPI_Psend_init(out, 2, 1, MPI_INT, 1, 1, MPI_COMM_SELF, MPI_INFO_NULL, &send), MPI_ERR_RANK);
    check_class(MPI_Precv_init(in, 2, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_SELF, MPI_INFO_NULL, &send),
        MPI_ERR_RANK);
    check_class(MPI_Precv_init(in, 2, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_SELF, MPI_INFO_NULL, &send), MPI_ERR_TAG);
    check_class(MPI_Psend_init(out, 1 << 30, (MPI_Count)1 << 60, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &send),
                MPI_ERR_COUNT);
    check_class(MPI_Psend_init(out, 2, 1, MPI_INT, 0, 1, MPI_COMM_SELF, (MPI_Info)17, &send), MPI_ERR_INFO);

    ok(MPI_Psend_init(out, 4, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &send));
    ok(MPI_Precv_init(in, 4, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &receive));
    check_class(MPI_Pready(0, send), MPI_ERR_REQUEST);
    check_class(MPI_Pready(0, receive), MPI_ERR_REQUEST);
    check_class(MPI_Pready(0, MPI_REQUEST_NULL), MPI_ERR_REQUEST);
    check_class(MPI_Parrived(send, 0, &flag), MPI_ERR_REQUEST);
    check_class(MPI_Parrived(MPI_REQUEST_NULL, 0, &flag), MPI_ERR_REQUEST);
    check_class(MPI_Parrived(receive, 4, &flag), MPI_ERR_ARG);
    check_class(MPI_Parrived(receive, -1, &flag), MPI_ERR_ARG);
    MPI_Irecv(in, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &other);
    check_class(MPI_Pready(0, other), MPI_ERR_REQUEST);
    check_class(MPI_Parrived(other, 0, &flag), MPI_ERR_REQUEST);
    MPI_Cancel(&other);
    MPI_Wait(&other, MPI_STATUS_IGNORE);
    ok(MPI_Start(&send));
    check_class(MPI_Start(&send), MPI_ERR_REQUEST);
    check_class(MPI_Cancel(&send), MPI_ERR_REQUEST);
    check_class(MPI_Pready(4, send), MPI_ERR_ARG);
    check_class(MPI_Pready(-1, send), MPI_ERR_ARG);
    check_class(MPI_Pready_range(2, 4, send), MPI_ERR_ARG);
    check_class(MPI_Pready_range(2, 1, send), MPI_ERR_ARG);
    check_class(MPI_Pready_list(3, twice, send), MPI_ERR_ARG);
    check_class(MPI_Pready_list(-1, twice, send), MPI_ERR_COUNT);
    ok(MPI_Pready_list(0, NULL, send));
    ok(MPI_Pready(1, send));
    check_class(MPI_Pready(1, send), MPI_ERR_ARG);
    check_class(MPI_Pready_range(0, 3, send), MPI_ERR_ARG);
    check_class(MPI_Request_free(&send), MPI_ERR_REQUEST);
    check(send != MPI_REQUEST_NULL);
    /* Partitions 0, 2 and 3 are still to be marked. */
    ok(MPI_Pready_range(2, 3, send));
    ok(MPI_Start(&receive));
    ok(MPI_Test(&receive, &flag, MPI_STATUS_IGNORE));
    check(!flag);
    ok(MPI_Pready(0, send));
    ok(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    ok(MPI_Wait(&send, MPI_STATUS_IGNORE));
    check(in[0] == 1 && in[1] == 2 && in[2] == 3 && in[3] == 4);
    ok(MPI_Request_free(&send));
    ok(MPI_Request_free(&receive));

    /* Longer than the buffer. */
    in[2] = 77;
    ok(MPI_Psend_init(out, 4, 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_INFO_NULL, &send));
    ok(MPI_Precv_init(in, 2, 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_INFO_NULL, &receive));
    ok(MPI_Start(&receive));
    ok(MPI_Start(&send));
    ok(MPI_Pready_range(0, 3, send));
    check_class(MPI_Wait(&receive, &status), MPI_ERR_TRUNCATE);
    check(receive != MPI_REQUEST_NULL && in[2] == 77);
    ok(MPI_Wait(&send, MPI_STATUS_IGNORE));
    ok(MPI_Request_free(&send));
    ok(MPI_Request_free(&receive));
    return finish();
}
