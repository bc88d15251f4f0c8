/* A list that names one request several times: it completes at its first place, the other places become null, and
 * the list may be used again. A persistent request stays at all places. */
#include "check.h"

enum { MANY = 20000 };

static int in[3], out = 7;

static void send_to_self(int count)
{
    for (int i = 0; i < count; i++)
        MPI_Send(&out, 1, MPI_INT, 0, i, MPI_COMM_SELF);
}

static void post(MPI_Request *list)
{
    for (int i = 0; i < 2; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &list[i]);
    list[2] = list[0], list[3] = MPI_REQUEST_NULL, list[4] = list[1], list[5] = list[0];
}

static void all_null(const MPI_Request *list)
{
    for (int i = 0; i < 6; i++)
        check(list[i] == MPI_REQUEST_NULL);
}

int main(int argc, char **argv)
{
    static MPI_Request many[MANY];
    MPI_Request list[6];
    MPI_Status statuses[6], status;
    int flag, index, count, indices[6];
    begin(&argc, &argv);
    return_errors();
    post(list);
    send_to_self(2);
    ok(MPI_Waitall(6, list, statuses));
    all_null(list);
    check_equal(statuses[0].MPI_TAG, 0);
    check_equal(statuses[1].MPI_TAG, 1);
    check_equal(statuses[2].MPI_TAG, MPI_ANY_TAG);
    post(list);
    ok(MPI_Testall(6, list, &flag, statuses));
    check(!flag && list[0] == list[2] && list[1] == list[4] && list[0] != MPI_REQUEST_NULL);
    send_to_self(2);
    do
        ok(MPI_Testall(6, list, &flag, statuses));
    while (!flag);
    all_null(list);
    check_equal(statuses[5].MPI_TAG, MPI_ANY_TAG);
    post(list);
    send_to_self(1);
    ok(MPI_Waitany(6, list, &index, &status));
    check_equal(index, 0);
    check(list[0] == MPI_REQUEST_NULL && list[2] == MPI_REQUEST_NULL && list[5] == MPI_REQUEST_NULL);
    check(list[1] != MPI_REQUEST_NULL && list[1] == list[4]);
    MPI_Send(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    do
        ok(MPI_Testany(6, list, &index, &flag, &status));
    while (!flag);
    check_equal(index, 1);
    all_null(list);
    post(list);
    send_to_self(2);
    for (int done = 0; done < 2; done += count) {
        ok(MPI_Waitsome(6, list, &count, indices, statuses));
        check(count == 1 || count == 2);
    }
    all_null(list);
    post(list);
    send_to_self(2);
    for (int done = 0; done < 2; done += count)
        ok(MPI_Testsome(6, list, &count, indices, statuses));
    all_null(list);
    ok(MPI_Waitsome(6, list, &count, indices, statuses));
    check_equal(count, MPI_UNDEFINED);
    /* A persistent request stays. */
    ok(MPI_Recv_init(&in[2], 1, MPI_INT, 0, 2, MPI_COMM_SELF, &list[0]));
    list[1] = list[0];
    ok(MPI_Start(&list[0]));
    MPI_Send(&out, 1, MPI_INT, 0, 2, MPI_COMM_SELF);
    ok(MPI_Waitall(2, list, statuses));
    check(list[0] != MPI_REQUEST_NULL && list[0] == list[1]);
    ok(MPI_Request_free(&list[0]));
    /* Many repetitions take linear time. */
    for (int i = 0; i < MANY / 2; i++)
        MPI_Isend(&out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &many[i]);
    memcpy(&many[MANY / 2], many, sizeof many / 2);
    ok(MPI_Waitall(MANY, many, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MANY; i++)
        check(many[i] == MPI_REQUEST_NULL);
    return finish();
}
