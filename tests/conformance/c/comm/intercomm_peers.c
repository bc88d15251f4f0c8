/* The peer communicator: a duplicate, a communicator of the leaders alone, an intercommunicator, the largest tags;
 * significant at the leaders only. */
#include "inter.h"

int main(int argc, char **argv)
{
    MPI_Comm own, inter, peer, made;
    begin(&argc, &argv);
    int side = side_of(rank), mine, leads;
    own = own_side();
    ok(MPI_Comm_rank(own, &mine));
    leads = mine == 0;
    int other = world_rank_of(!side, 0);

    ok(MPI_Comm_dup(MPI_COMM_WORLD, &peer));
    for (int i = 0; i < 5; i++) {
        int tag = (int[]){0, 1, 0x6fffffff, 0x70000000, 2147483647}[i];
        ok(MPI_Intercomm_create(own, 0, peer, other, tag, &inter));
        all_to_all_remote(inter, 1 + i);
        ok(MPI_Comm_free(&inter));
    }
    ok(MPI_Comm_free(&peer));

    /* The others have no peer communicator, and no remote leader. */
    ok(MPI_Comm_split(MPI_COMM_WORLD, leads ? 0 : MPI_UNDEFINED, side, &peer));
    check((peer != MPI_COMM_NULL) == leads);
    ok(MPI_Intercomm_create(own, 0, peer, leads ? !side : -77, 4, &inter));
    all_to_all_remote(inter, 10);

    /* An intercommunicator whose groups have one leader each; ranks are remote ranks. */
    ok(MPI_Intercomm_create(own, 0, inter, 0, 4, &made));
    all_to_all_remote(made, 11);
    ok(MPI_Comm_free(&made));
    if (leads)
        ok(MPI_Comm_free(&peer));

    /* Messages of the program on the peer communicator, also for any tag, are not mixed with the call's own. */
    MPI_Request request;
    int value = -1, next = (rank + 1) % size;
    ok(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
    ok(MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, other, 8, &made));
    ok(MPI_Send(&rank, 1, MPI_INT, next, 8, MPI_COMM_WORLD));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_equal(value, (rank + size - 1) % size);
    all_to_all_remote(made, 12);

    /* Freed in any order; the communicators that they were created from may be freed before. */
    ok(MPI_Comm_free(&own));
    ok(MPI_Comm_free(&inter));
    all_to_all_remote(made, 13);
    ok(MPI_Comm_free(&made));
    return finish();
}
