/* Many non-blocking collectives are under way on one communicator at once, of all kinds, beside messages and blocking
 * collectives; they are completed in any order, and give the results of the blocking forms. */
#include "check.h"

enum { ROUNDS = 6, N = 50, KINDS = 8 };

static int *send_data[ROUNDS][KINDS], *recv_data[ROUNDS][KINDS];

static int value(int round, int kind, int who, int place)
{
    return round * 1000003 + kind * 10007 + who * 101 + place;
}

static void begin_round(int round, MPI_Request *requests)
{
    int root = round % size;
    for (int kind = 0; kind < KINDS; kind++) {
        send_data[round][kind] = malloc((size_t)size * N * sizeof(int));
        recv_data[round][kind] = malloc((size_t)size * N * sizeof(int));
        for (int i = 0; i < size * N; i++) {
            send_data[round][kind][i] = value(round, kind, rank, i);
            recv_data[round][kind][i] = -1;
        }
    }
    int **s = send_data[round], **r = recv_data[round];
    ok(MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]));
    ok(MPI_Ibcast(s[1], N, MPI_INT, root, MPI_COMM_WORLD, &requests[1]));
    ok(MPI_Igather(s[2], N, MPI_INT, r[2], N, MPI_INT, root, MPI_COMM_WORLD, &requests[2]));
    ok(MPI_Iscatter(s[3], N, MPI_INT, r[3], N, MPI_INT, root, MPI_COMM_WORLD, &requests[3]));
    ok(MPI_Iallgather(s[4], N, MPI_INT, r[4], N, MPI_INT, MPI_COMM_WORLD, &requests[4]));
    ok(MPI_Ialltoall(s[5], N, MPI_INT, r[5], N, MPI_INT, MPI_COMM_WORLD, &requests[5]));
    ok(MPI_Ireduce(s[6], r[6], N, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD, &requests[6]));
    ok(MPI_Iallreduce(s[7], r[7], N, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &requests[7]));
}

static void check_round(int round)
{
    int root = round % size, **s = send_data[round], **r = recv_data[round];
    for (int i = 0; i < N; i++) {
        check_equal(s[1][i], value(round, 1, root, i));
        check_equal(r[3][i], value(round, 3, root, rank * N + i));
        check_equal(r[7][i], value(round, 7, size - 1, i));
        long long sum = 0;
        for (int who = 0; who < size; who++)
            sum += value(round, 6, who, i);
        check_equal(r[6][i], rank == root ? (int)sum : -1);
    }
    for (int i = 0; i < size * N; i++) {
        check_equal(r[2][i], rank == root ? value(round, 2, i / N, i % N) : -1);
        check_equal(r[4][i], value(round, 4, i / N, i % N));
        check_equal(r[5][i], value(round, 5, i / N, rank * N + i % N));
    }
    for (int kind = 0; kind < KINDS; kind++) {
        free(send_data[round][kind]);
        free(recv_data[round][kind]);
    }
}

/* Each rank completes them in an order and by calls of its own. */
static void complete(int count, MPI_Request *requests)
{
    int left = count, index, done, indices[ROUNDS * KINDS];
    MPI_Status statuses[ROUNDS * KINDS];
    switch (rank % 5) {
    case 0:
        ok(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
        break;
    case 1:
        for (int i = count - 1; i >= 0; i--)
            ok(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        break;
    case 2:
        while (left-- > 0) {
            ok(MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE));
            check(index != MPI_UNDEFINED);
        }
        break;
    case 3:
        while (left > 0) {
            ok(MPI_Waitsome(count, requests, &done, indices, statuses));
            check(done > 0);
            left -= done;
        }
        break;
    default:
        do
            ok(MPI_Testall(count, requests, &done, statuses));
        while (!done);
    }
    for (int i = 0; i < count; i++)
        check(requests[i] == MPI_REQUEST_NULL);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Request requests[ROUNDS * KINDS];
    for (int round = 0; round < ROUNDS; round++) {
        begin_round(round, requests + round * KINDS);
        /* Messages and a blocking collective pass by those that are under way. */
        int out = rank * 7 + round, in = -1, all = -1;
        ok(MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 1, &in, 1, MPI_INT, (rank + size - 1) % size, 1,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        check_equal(in, (rank + size - 1) % size * 7 + round);
        ok(MPI_Allreduce(&out, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
        check_equal(all, (size - 1) * 7 + round);
    }
    complete(ROUNDS * KINDS, requests);
    for (int round = 0; round < ROUNDS; round++)
        check_round(round);

    /* An operation is complete once all have started it, by any call that makes progress. */
    MPI_Request barrier;
    int flag = 0;
    ok(MPI_Ibarrier(MPI_COMM_WORLD, &barrier));
    while (!flag) {
        MPI_Status status;
        ok(MPI_Request_get_status(barrier, &flag, &status));
    }
    check(barrier != MPI_REQUEST_NULL);
    ok(MPI_Test(&barrier, &flag, MPI_STATUS_IGNORE));
    check(flag && barrier == MPI_REQUEST_NULL);
    return finish();
}
