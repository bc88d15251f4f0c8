/* The all, any and some forms of wait and test complete the requests that can be, set their handles to null, skip
 * null handles, and return MPI_UNDEFINED when no handle is active. */
#include "check.h"

enum { N = 8 };

static int values[N];
static MPI_Request requests[N];

/* Receives from the own process with tags 0..N-1; every other handle of the first `holes` is null. */
static void post(int holes)
{
    for (int i = 0; i < N; i++) {
        values[i] = -1;
        requests[i] = MPI_REQUEST_NULL;
        if (i >= holes || i % 2)
            ok(MPI_Irecv(&values[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]));
    }
}

static void send(int i)
{
    ok(MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_SELF));
}

static void no_active_handles(void)
{
    MPI_Request none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status[2];
    int index = 5, flag = 0, count = 5, indices[2];
    ok(MPI_Waitany(2, none, &index, status));
    check_equal(index, MPI_UNDEFINED);
    check_equal(status[0].MPI_SOURCE, MPI_ANY_SOURCE);
    ok(MPI_Testany(2, none, &index, &flag, status));
    check(flag);
    check_equal(index, MPI_UNDEFINED);
    ok(MPI_Waitsome(2, none, &count, indices, status));
    check_equal(count, MPI_UNDEFINED);
    ok(MPI_Testsome(2, none, &count, indices, status));
    check_equal(count, MPI_UNDEFINED);
    ok(MPI_Testall(2, none, &flag, status));
    check(flag);
    ok(MPI_Waitall(2, none, status));
    check_equal(status[1].MPI_TAG, MPI_ANY_TAG);
    ok(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
    ok(MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE));
    check(flag);
    ok(MPI_Waitany(0, NULL, &index, MPI_STATUS_IGNORE));
    check_equal(index, MPI_UNDEFINED);
}

int main(int argc, char **argv)
{
    MPI_Status statuses[N], status;
    int index, flag, count, indices[N];
    begin(&argc, &argv);
    no_active_handles();

    post(4);
    send(5);
    ok(MPI_Waitany(N, requests, &index, &status));
    check_equal(index, 5);
    check_equal(status.MPI_TAG, 5);
    check(requests[5] == MPI_REQUEST_NULL);
    ok(MPI_Testany(N, requests, &index, &flag, &status));
    check(!flag);
    check_equal(index, MPI_UNDEFINED);
    ok(MPI_Testall(N, requests, &flag, MPI_STATUSES_IGNORE));
    check(!flag);
    check(requests[7] != MPI_REQUEST_NULL);
    send(7);
    send(3);
    for (int got = 0; got < 2; got += count) {
        ok(MPI_Waitsome(N, requests, &count, indices, statuses));
        check(count == 1 || count == 2);
        for (int i = 0; i < count && count <= 2; i++) {
            check(indices[i] == 3 || indices[i] == 7);
            check_equal(statuses[i].MPI_TAG, indices[i]);
            check(requests[indices[i]] == MPI_REQUEST_NULL);
            check_equal(values[indices[i]], indices[i]);
        }
        if (count < 1)
            break;
    }
    ok(MPI_Testsome(N, requests, &count, indices, statuses));
    check_equal(count, 0);
    send(1);
    send(4);
    send(6);
    flag = 0;
    while (!flag)
        ok(MPI_Testall(N, requests, &flag, statuses));
    check_equal(statuses[6].MPI_TAG, 6);
    check_equal(statuses[0].MPI_SOURCE, MPI_ANY_SOURCE);
    for (int i = 0; i < N; i++)
        check(requests[i] == MPI_REQUEST_NULL);

    post(0);
    for (int i = N - 1; i >= 0; i--)
        send(i);
    ok(MPI_Waitall(N, requests, statuses));
    for (int i = 0; i < N; i++) {
        check_equal(values[i], i);
        check_equal(statuses[i].MPI_TAG, i);
        check(requests[i] == MPI_REQUEST_NULL);
    }
    return finish();
}
