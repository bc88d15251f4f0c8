/* A receive that starts when its message has arrived already gets that message and no other: in the order of the sends,
 * behind receives that are posted and messages that were found before, with its own status, and with an error if its
 * buffer is too short. A cancel does not change it. */
#include "check.h"

static void send(int data, int tag, MPI_Comm comm)
{
    ok(MPI_Send(&data, 1, MPI_INT, 0, tag, comm));
}

/* A poll finds the sender's ring; before, no receive takes a message from it at once. */
static void connect(MPI_Comm comm)
{
    int data = -1;
    send(1, 1, comm);
    ok(MPI_Recv(&data, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE));
}

static void complete(MPI_Request *request, const int *data, int expected, int tag)
{
    int flag = 0, count = -1, cancelled = -1;
    MPI_Status status = {.MPI_SOURCE = -7, .MPI_TAG = -7};
    ok(MPI_Request_get_status(*request, &flag, &status));
    check(flag);
    check_equal(status.MPI_TAG, tag);
    ok(MPI_Wait(request, &status));
    ok(MPI_Get_count(&status, MPI_INT, &count));
    ok(MPI_Test_cancelled(&status, &cancelled));
    check_equal(*data, expected);
    check_equal(status.MPI_SOURCE, 0);
    check_equal(status.MPI_TAG, tag);
    check_equal(count, 1);
    check_equal(cancelled, 0);
    check(*request == MPI_REQUEST_NULL);
}

static void in_order(MPI_Comm comm)
{
    int data[4] = {-1, -1, -1, -1};
    MPI_Request requests[4];
    for (int i = 0; i < 4; i++)
        send(10 + i, 5 + i % 2, comm);
    ok(MPI_Irecv(&data[0], 1, MPI_INT, 0, 5, comm, &requests[0]));
    ok(MPI_Irecv(&data[1], 1, MPI_INT, 0, MPI_ANY_TAG, comm, &requests[1]));
    /* The next message has tag 5: this receive is posted, and the one behind it must not overtake it. */
    ok(MPI_Irecv(&data[2], 1, MPI_INT, 0, 6, comm, &requests[2]));
    ok(MPI_Irecv(&data[3], 1, MPI_INT, 0, MPI_ANY_TAG, comm, &requests[3]));
    ok(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    int expected[4] = {10, 11, 13, 12};
    for (int i = 0; i < 4; i++)
        check_equal(data[i], expected[i]);
}

static void behind_posted_and_found(MPI_Comm comm)
{
    int first = -1, second = -1, flag = 1;
    MPI_Request posted, request;
    ok(MPI_Irecv(&first, 1, MPI_INT, MPI_ANY_SOURCE, 7, comm, &posted));
    send(20, 7, comm);
    send(21, 7, comm);
    ok(MPI_Irecv(&second, 1, MPI_INT, 0, 7, comm, &request));
    ok(MPI_Wait(&posted, MPI_STATUS_IGNORE));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_equal(first, 20);
    check_equal(second, 21);
    send(30, 8, comm);
    ok(MPI_Iprobe(0, 8, comm, &flag, MPI_STATUS_IGNORE));
    send(31, 8, comm);
    ok(MPI_Irecv(&first, 1, MPI_INT, 0, 8, comm, &request));
    ok(MPI_Irecv(&second, 1, MPI_INT, 0, 8, comm, &posted));
    complete(&request, &first, 30, 8);
    ok(MPI_Wait(&posted, MPI_STATUS_IGNORE));
    check_equal(second, 31);
}

static void of_other_contexts_and_lengths(MPI_Comm comm, MPI_Comm other)
{
    int data = -1, longer[3] = {1, 2, 3}, flag = 0, mixed = -1;
    MPI_Request request, of_other;
    send(40, 9, other);
    send(41, 9, comm);
    ok(MPI_Irecv(&data, 1, MPI_INT, 0, 9, comm, &request));
    ok(MPI_Irecv(&mixed, 1, MPI_INT, 0, 9, other, &of_other));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    ok(MPI_Wait(&of_other, MPI_STATUS_IGNORE));
    check_equal(data, 41);
    check_equal(mixed, 40);
    ok(MPI_Send(longer, 3, MPI_INT, 0, 9, comm));
    int start = MPI_Irecv(&data, 1, MPI_INT, 0, 9, comm, &request);
    check_equal(start, MPI_SUCCESS);
    check_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    /* A cancel comes too late. */
    send(50, 9, comm);
    ok(MPI_Irecv(&data, 1, MPI_INT, 0, 9, comm, &request));
    ok(MPI_Cancel(&request));
    complete(&request, &data, 50, 9);
    /* Freed without being waited for. */
    send(51, 9, comm);
    ok(MPI_Irecv(&data, 1, MPI_INT, 0, 9, comm, &request));
    ok(MPI_Request_free(&request));
    check_equal(data, 51);
    /* A message with gaps. */
    MPI_Datatype pairs;
    int apart[3] = {0, 0, 0};
    ok(MPI_Type_vector(2, 1, 2, MPI_INT, &pairs));
    ok(MPI_Type_commit(&pairs));
    ok(MPI_Send(longer, 2, MPI_INT, 0, 9, comm));
    ok(MPI_Irecv(apart, 1, pairs, 0, 9, comm, &request));
    ok(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    check(flag);
    check(apart[0] == 1 && apart[1] == 0 && apart[2] == 2);
    ok(MPI_Type_free(&pairs));
}

int main(int argc, char **argv)
{
    MPI_Comm comm, other;
    begin(&argc, &argv);
    ok(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    ok(MPI_Comm_dup(comm, &other));
    ok(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    connect(comm);
    in_order(comm);
    behind_posted_and_found(comm);
    of_other_contexts_and_lengths(comm, other);
    ok(MPI_Comm_free(&other));
    ok(MPI_Comm_free(&comm));
    return finish();
}
