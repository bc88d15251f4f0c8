/* A partitioned send and its receive, with equal and with other numbers of partitions, are started again and again:
 * each partition leaves when it is ready, by MPI_Pready, _range or _list, and MPI_Parrived finds it without a wait
 * for the others; the n-th send of a process with a tag meets the n-th receive, whichever is started first; counts
 * and partitions of zero, derived sizes, MPI_PROC_NULL, and requests beside ordinary ones in one list. */
#include "check.h"

enum { ROUNDS = 4, SHAPES = 6, PAIRS = 3 };

/* Partitions and count of the sender and of the receiver, in ints. */
static const struct { int sends, send_count, receives, receive_count; } shapes[SHAPES] = {
    {1, 10, 1, 10}, {8, 6, 4, 12}, {3, 50000, 5, 30000}, {16, 1, 1, 16}, {4, 0, 2, 0}, {0, 0, 0, 0}};

static int data[400000];

static void one_shape(int n)
{
    MPI_Request list[3];
    MPI_Status statuses[3];
    int out = n, in = -1, flag, elements = shapes[n].sends * shapes[n].send_count, count, backwards[16];
    int parts = rank == 0 ? shapes[n].sends : shapes[n].receives;
    if (rank == 0)
        ok(MPI_Psend_init(data, parts, shapes[n].send_count, MPI_INT, 1, n, MPI_COMM_WORLD, MPI_INFO_NULL, &list[0]));
    else
        ok(MPI_Precv_init(data, parts, shapes[n].receive_count, MPI_INT, 0, n, MPI_COMM_WORLD, MPI_INFO_NULL,
            &list[0]));
    for (int i = 0; i < parts; i++)
        backwards[i] = parts - 1 - i;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < elements; i++)
            data[i] = rank == 0 ? i * 3 + round : -1;
        ok(MPI_Start(&list[0]));
        if (rank == 0) {
            MPI_Isend(&out, 1, MPI_INT, 1, 99, MPI_COMM_WORLD, &list[1]);
            /* Without partitions it may be complete already. */
            ok(MPI_Test(&list[0], &flag, MPI_STATUS_IGNORE));
            check(!flag || parts == 0);
            if (round == 0 && parts > 0)
                ok(MPI_Pready_range(0, parts - 1, list[0]));
            else if (round == 1 && parts > 0)
                ok(MPI_Pready_list(parts, backwards, list[0]));
            else
                for (int i = 0; i < parts; i++)
                    ok(MPI_Pready(backwards[i], list[0]));
        } else {
            MPI_Irecv(&in, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, &list[1]);
            for (int i = 0; i < parts && round % 2; i++)
                do
                    ok(MPI_Parrived(list[0], i, &flag));
                while (!flag);
        }
        list[2] = MPI_REQUEST_NULL;
        ok(MPI_Waitall(3, list, statuses));
        check(list[0] != MPI_REQUEST_NULL && list[1] == MPI_REQUEST_NULL);
        if (rank == 1) {
            check_equal(in, n);
            MPI_Get_count(&statuses[0], MPI_INT, &count);
            check_equal(count, elements);
            check_equal(statuses[0].MPI_SOURCE, 0);
            check_equal(statuses[0].MPI_TAG, n);
            for (int i = 0; i < elements; i++)
                check(data[i] == i * 3 + round);
            for (int i = 0; i < parts; i++) {
                ok(MPI_Parrived(list[0], i, &flag));
                check(flag);
            }
        }
    }
    ok(MPI_Request_free(&list[0]));
    check(list[0] == MPI_REQUEST_NULL);
}

int main(int argc, char **argv)
{
    static const int order[2][PAIRS] = {{2, 0, 1}, {1, 2, 0}};
    MPI_Request pairs[PAIRS], request;
    MPI_Status status;
    int values[PAIRS] = {10, 20, 30}, flag;
    begin(&argc, &argv);
    for (int n = 0; n < SHAPES && rank < 2; n++)
        one_shape(n);
    /* In the order of initialisation. */
    for (int i = 0; i < PAIRS && rank < 2; i++) {
        if (rank == 0)
            ok(MPI_Psend_init(&values[i], 1, 1, MPI_INT, 1, 50, MPI_COMM_WORLD, MPI_INFO_NULL, &pairs[i]));
        else
            ok(MPI_Precv_init(&values[i], 1, 1, MPI_INT, 0, 50, MPI_COMM_WORLD, MPI_INFO_NULL, &pairs[i]));
    }
    for (int i = 0; i < PAIRS && rank < 2; i++) {
        int which = order[rank][i];
        if (rank == 1)
            values[which] = 0;
        ok(MPI_Start(&pairs[which]));
        if (rank == 0)
            ok(MPI_Pready(0, pairs[which]));
    }
    if (rank < 2) {
        ok(MPI_Waitall(PAIRS, pairs, MPI_STATUSES_IGNORE));
        for (int i = 0; i < PAIRS; i++) {
            check_equal(values[i], 10 * (i + 1));
            ok(MPI_Request_free(&pairs[i]));
        }
    }
    /* A partition before the others. */
    if (rank == 0) {
        ok(MPI_Psend_init(data, 2, 100, MPI_INT, 1, 60, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
        ok(MPI_Start(&request));
        ok(MPI_Pready(1, request));
        MPI_Recv(NULL, 0, MPI_INT, 1, 61, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        ok(MPI_Pready(0, request));
        ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        ok(MPI_Request_free(&request));
    } else if (rank == 1) {
        ok(MPI_Precv_init(data, 2, 100, MPI_INT, 0, 60, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
        ok(MPI_Start(&request));
        do
            ok(MPI_Parrived(request, 1, &flag));
        while (!flag);
        ok(MPI_Parrived(request, 0, &flag));
        check(!flag);
        MPI_Send(NULL, 0, MPI_INT, 0, 61, MPI_COMM_WORLD);
        ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        ok(MPI_Request_free(&request));
    }
    /* To and from MPI_PROC_NULL. */
    ok(MPI_Precv_init(data, 2, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    ok(MPI_Start(&request));
    ok(MPI_Parrived(request, 1, &flag));
    check(flag);
    ok(MPI_Wait(&request, &status));
    check_equal(status.MPI_SOURCE, MPI_PROC_NULL);
    ok(MPI_Request_free(&request));
    ok(MPI_Psend_init(data, 2, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    ok(MPI_Start(&request));
    ok(MPI_Pready_range(0, 1, request));
    ok(MPI_Wait(&request, &status));
    ok(MPI_Request_free(&request));
    return finish();
}
