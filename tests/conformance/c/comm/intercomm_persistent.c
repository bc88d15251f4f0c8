/* Persistent and partitioned operations on an intercommunicator: the ranks are those of the remote group, and an
 * operation of the local group's communicator with the same rank and tag stays apart. */
#include "inter.h"

enum { ROUNDS = 3, PARTS = 5, LENGTH = 20000 };

/* Number of the partner on the other side, or MPI_PROC_NULL. */
static int partner(MPI_Comm inter, int *world)
{
    int mine, others;
    ok(MPI_Comm_rank(inter, &mine));
    ok(MPI_Comm_remote_size(inter, &others));
    *world = mine < others ? world_rank_of(!side_of(rank), mine) : -1;
    return mine < others ? mine : MPI_PROC_NULL;
}

static void persistent(MPI_Comm inter, MPI_Comm own)
{
    MPI_Request requests[8];
    MPI_Status statuses[8];
    int world, pair = partner(inter, &world), self, out[4], in[4];
    ok(MPI_Comm_rank(own, &self));
    ok(MPI_Send_init(&out[0], 1, MPI_INT, pair, 1, inter, &requests[0]));
    ok(MPI_Ssend_init(&out[1], 1, MPI_INT, pair, 2, inter, &requests[1]));
    ok(MPI_Recv_init(&in[0], 1, MPI_INT, pair, 1, inter, &requests[2]));
    ok(MPI_Recv_init(&in[1], 1, MPI_INT, pair == MPI_PROC_NULL ? pair : MPI_ANY_SOURCE, 2, inter, &requests[3]));
    /* The same tags in the local group, to oneself. */
    ok(MPI_Send_init(&out[2], 1, MPI_INT, self, 1, own, &requests[4]));
    ok(MPI_Recv_init(&in[2], 1, MPI_INT, self, 1, own, &requests[5]));
    /* Ready mode: the partner has posted the receive before it reports so. */
    ok(MPI_Rsend_init(&out[3], 1, MPI_INT, pair, 3, inter, &requests[6]));
    ok(MPI_Recv_init(&in[3], 1, MPI_INT, pair, 3, inter, &requests[7]));
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 4; i++) {
            out[i] = rank * 1000 + round * 10 + i;
            in[i] = -1;
        }
        ok(MPI_Startall(6, requests));
        ok(MPI_Start(&requests[7]));
        ok(MPI_Sendrecv(NULL, 0, MPI_INT, pair, 4, NULL, 0, MPI_INT, pair, 4, inter, MPI_STATUS_IGNORE));
        ok(MPI_Start(&requests[6]));
        ok(MPI_Waitall(8, requests, statuses));
        for (int i = 0; i < 4; i++)
            check_equal(in[i], i == 2 ? rank * 1000 + round * 10 + i
                        : pair == MPI_PROC_NULL ? -1 : world * 1000 + round * 10 + i);
        check_equal(statuses[2].MPI_SOURCE, pair);
        check_equal(statuses[3].MPI_SOURCE, pair);
        check_equal(statuses[5].MPI_SOURCE, self);
    }
    for (int i = 0; i < 8; i++)
        ok(MPI_Request_free(&requests[i]));
}

static void partitioned(MPI_Comm inter)
{
    static int out[PARTS * LENGTH], in[PARTS * LENGTH];
    MPI_Request requests[2];
    MPI_Status status;
    int world, pair = partner(inter, &world), flag = 0, count = -1;
    /* The receiver has other partitions than the sender. */
    ok(MPI_Psend_init(out, PARTS, LENGTH, MPI_INT, pair, 7, inter, MPI_INFO_NULL, &requests[0]));
    ok(MPI_Precv_init(in, 2 * PARTS, LENGTH / 2, MPI_INT, pair, 7, inter, MPI_INFO_NULL, &requests[1]));
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < PARTS * LENGTH; i++) {
            out[i] = rank * 1000000 + round * 7 + i;
            in[i] = -1;
        }
        ok(MPI_Startall(2, requests));
        for (int part = PARTS - 1; part >= 0; part--)
            ok(MPI_Pready(part, requests[0]));
        for (flag = 0; !flag;)
            ok(MPI_Parrived(requests[1], 3, &flag));
        check(pair == MPI_PROC_NULL || in[2 * LENGTH - 1] == world * 1000000 + round * 7 + 2 * LENGTH - 1);
        ok(MPI_Wait(&requests[1], &status));
        ok(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        check_equal(status.MPI_SOURCE, pair);
        ok(MPI_Get_count(&status, MPI_INT, &count));
        check_equal(count, pair == MPI_PROC_NULL ? 0 : PARTS * LENGTH);
        int right = 1;
        for (int i = 0; i < PARTS * LENGTH; i++)
            right &= in[i] == (pair == MPI_PROC_NULL ? -1 : world * 1000000 + round * 7 + i);
        check(right);
    }
    ok(MPI_Request_free(&requests[0]));
    ok(MPI_Request_free(&requests[1]));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return_errors();
    MPI_Comm inter = two_sides(0), own = own_side();
    int others;
    MPI_Request request;
    ok(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    persistent(inter, own);
    partitioned(inter);
    /* A rank of the local group that the remote group does not have. */
    ok(MPI_Comm_remote_size(inter, &others));
    check_class(MPI_Send_init(NULL, 0, MPI_INT, others, 1, inter, &request), MPI_ERR_RANK);
    check_class(MPI_Precv_init(NULL, 1, 0, MPI_INT, others, 1, inter, MPI_INFO_NULL, &request), MPI_ERR_RANK);
    ok(MPI_Comm_free(&inter));
    ok(MPI_Comm_free(&own));
    return finish();
}
