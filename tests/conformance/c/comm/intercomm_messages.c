/* Messages between the groups of an intercommunicator: ranks are those of the remote group, in all modes, sizes and
 * ways to receive; messages of the local group's communicators stay apart. */
#include "inter.h"

enum { LONG = 300000 };

int main(int argc, char **argv)
{
    MPI_Comm inter, own;
    MPI_Status status;
    MPI_Request request;
    MPI_Message message;
    int mine, others, flag = 0, value = -1;
    begin(&argc, &argv);
    inter = two_sides(0);
    own = own_side();
    ok(MPI_Comm_rank(inter, &mine));
    ok(MPI_Comm_remote_size(inter, &others));
    for (int i = 1; i < 4; i++)
        all_to_all_remote(inter, i);

    /* Long messages, both ways at once, between the pairs that both sides have. */
    int pair = mine < others ? mine : MPI_PROC_NULL, *out = malloc(sizeof(int) * LONG), *in = calloc(LONG, sizeof(int));
    for (int i = 0; i < LONG; i++)
        out[i] = rank * 7 + i;
    ok(MPI_Sendrecv(out, LONG, MPI_INT, pair, 5, in, LONG, MPI_INT, pair, 5, inter, &status));
    if (pair != MPI_PROC_NULL) {
        int from = world_rank_of(!side_of(rank), pair), right = 1;
        for (int i = 0; i < LONG; i++)
            right &= in[i] == from * 7 + i;
        check(right);
        check_equal(status.MPI_SOURCE, pair);
    } else {
        check_equal(status.MPI_SOURCE, MPI_PROC_NULL);
    }

    /* Wildcards: the source is a rank of the remote group. The first side sends, the other one receives. */
    if (side_of(rank)) {
        for (int i = 0; i < others; i++)
            ok(MPI_Ssend(&mine, 1, MPI_INT, i, 40 + i, inter));
    } else {
        int seen = 0;
        for (int i = 0; i < others; i++) {
            ok(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &status));
            ok(MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, MPI_ANY_TAG, inter, &status));
            check_equal(value, status.MPI_SOURCE);
            check_equal(status.MPI_TAG, 40 + mine);
            seen |= 1 << status.MPI_SOURCE;
        }
        check_equal(seen, (1 << others) - 1);
    }
    ok(MPI_Barrier(MPI_COMM_WORLD));
    /* Matched probes, and a message in the local group with the same rank and tag. */
    int local;
    ok(MPI_Comm_size(own, &local));
    ok(MPI_Isend(&rank, 1, MPI_INT, local - 1, 77, own, &request));
    if (pair != MPI_PROC_NULL) {
        int sent = 1000 + rank;
        ok(MPI_Send(&sent, 1, MPI_INT, pair, 77, inter));
        while (!flag)
            ok(MPI_Improbe(pair, 77, inter, &flag, &message, &status));
        ok(MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
        check_equal(value, 1000 + world_rank_of(!side_of(rank), pair));
    }
    if (mine == local - 1)
        for (int i = 0; i < local; i++) {
            ok(MPI_Recv(&value, 1, MPI_INT, i, 77, own, MPI_STATUS_IGNORE));
            check_equal(value, world_rank_of(side_of(rank), i));
        }
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));

    /* Cancelling a receive, and a send without a receive. */
    ok(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 90, inter, &request));
    ok(MPI_Cancel(&request));
    ok(MPI_Wait(&request, &status));
    ok(MPI_Test_cancelled(&status, &flag));
    check(flag);
    if (pair != MPI_PROC_NULL) {
        ok(MPI_Issend(&mine, 1, MPI_INT, pair, 91, inter, &request));
        ok(MPI_Cancel(&request));
        ok(MPI_Wait(&request, &status));
        ok(MPI_Test_cancelled(&status, &flag));
        check(flag);
    }
    /* Freed before its message has come: the receive completes. */
    ok(MPI_Irecv(&value, 1, MPI_INT, pair, 92, inter, &request));
    ok(MPI_Barrier(MPI_COMM_WORLD));
    if (pair != MPI_PROC_NULL)
        ok(MPI_Send(&rank, 1, MPI_INT, pair, 92, inter));
    ok(MPI_Comm_free(&inter));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (pair != MPI_PROC_NULL)
        check_equal(value, world_rank_of(!side_of(rank), pair));
    ok(MPI_Comm_free(&own));
    free(out);
    free(in);
    return finish();
}
