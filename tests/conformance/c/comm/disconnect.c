/* MPI_Comm_disconnect waits for the operations of the communicator, whose requests are complete afterwards, in intra-
 * and intercommunicators; operations of other communicators do not count. */
#include "inter.h"

enum { LONG = 400000 };

/* Two processes exchange long messages that begin after one of them disconnects. `partner` is its rank in `comm`,
 * `other` that in MPI_COMM_WORLD; the first one starts late. */
static void exchange(MPI_Comm *comm, int partner, int other, int first)
{
    char *in = calloc(LONG, 1), *out = malloc(LONG), go = 1;
    MPI_Request requests[2], elsewhere;
    int done = 0, never = 0;
    memset(out, 'a' + rank, LONG);
    ok(MPI_Irecv(&never, 1, MPI_INT, rank, 4, MPI_COMM_WORLD, &elsewhere));
    if (first)
        ok(MPI_Recv(&go, 1, MPI_CHAR, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    ok(MPI_Irecv(in, LONG, MPI_CHAR, partner, 5, *comm, &requests[0]));
    ok(MPI_Isend(out, LONG, MPI_CHAR, partner, 5, *comm, &requests[1]));
    if (!first)
        ok(MPI_Send(&go, 1, MPI_CHAR, other, 3, MPI_COMM_WORLD));
    ok(MPI_Comm_disconnect(comm));
    check(*comm == MPI_COMM_NULL);
    /* The message is there before anything else is called. */
    check(in[0] == 'a' + other && in[LONG - 1] == 'a' + other);
    ok(MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE));
    check(done);
    ok(MPI_Test(&elsewhere, &done, MPI_STATUS_IGNORE));
    check(!done);
    ok(MPI_Cancel(&elsewhere));
    ok(MPI_Wait(&elsewhere, MPI_STATUS_IGNORE));
    free(in);
    free(out);
}

static int deletes;

static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    MPI_Comm comm, copy;
    MPI_Request request;
    int keyval, side, mine;
    begin(&argc, &argv);
    side = side_of(rank);
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    ok(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, NULL));
    ok(MPI_Comm_set_attr(comm, keyval, NULL));
    /* A duplicate of it that has not settled counts, too. */
    ok(MPI_Comm_idup(comm, &copy, &request));
    if (rank < 2)
        exchange(&comm, !rank, !rank, rank == 0);
    else
        ok(MPI_Comm_disconnect(&comm));
    check(comm == MPI_COMM_NULL);
    check_equal(deletes, 1);
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    ok(MPI_Comm_disconnect(&copy));

    comm = two_sides(2);
    ok(MPI_Comm_rank(comm, &mine));
    if (mine == 0)
        exchange(&comm, 0, world_rank_of(!side, 0), side);
    else
        ok(MPI_Comm_disconnect(&comm));
    check(comm == MPI_COMM_NULL);
    ok(MPI_Comm_free_keyval(&keyval));
    return finish();
}
