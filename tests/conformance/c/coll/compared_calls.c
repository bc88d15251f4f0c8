/* With the control variable coll_check, calls that do not match are errors in all processes: of calls that do not block
 * and persistent ones, between groups, between neighbours, and of blocks with lengths of their own. The communicator
 * works on. */
#include "check.h"

static int data[64], result[64], counts[16], at[16];
static MPI_Comm comm;
static int odd; /* this process makes another call than the others */

static void clear(int count)
{
    for (int i = 0; i < 16; i++) {
        counts[i] = count;
        at[i] = i * 2;
    }
}

/* All processes get an error, and the next call works. */
static void all_fail(int code)
{
    int length = 0;
    char text[MPI_MAX_ERROR_STRING] = "";
    check_class(code, MPI_ERR_OTHER);
    MPI_Error_string(code, text, &length);
    if (strstr(text, "of the communicator") == NULL && wrong++ < 10)
        fprintf(stderr, "rank %d: %s\n", rank, text);
    ok(MPI_Barrier(comm));
}

static int waited(int code, MPI_Request *request)
{
    ok(code);
    return MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void not_blocking(void)
{
    MPI_Request request;
    all_fail(waited(MPI_Ibcast(data, odd ? 2 : 1, MPI_INT, 0, comm, &request), &request));
    all_fail(waited(MPI_Ireduce(data, result, 1, MPI_INT, odd ? MPI_MAX : MPI_SUM, 0, comm, &request), &request));
    all_fail(waited(odd ? MPI_Ibarrier(comm, &request)
                        : MPI_Iallgather(data, 1, MPI_INT, result, 1, MPI_INT, comm, &request),
                    &request));
    ok(waited(MPI_Iallreduce(data, result, 3, MPI_INT, MPI_SUM, comm, &request), &request));
    ok(MPI_Bcast_init(data, 1, MPI_INT, odd ? 1 : 0, comm, MPI_INFO_NULL, &request));
    for (int start = 0; start < 2; start++) {
        ok(MPI_Start(&request));
        all_fail(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    ok(MPI_Request_free(&request));
    ok(MPI_Allreduce_init(data, result, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request));
    for (int start = 0; start < 3; start++) {
        ok(MPI_Start(&request));
        ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    ok(MPI_Request_free(&request));
}

static void blocks(void)
{
    clear(1);
    ok(MPI_Gatherv(data, 1, MPI_INT, result, counts, at, MPI_INT, 0, comm));
    all_fail(MPI_Gatherv(data, odd ? 2 : 1, MPI_INT, result, counts, at, MPI_INT, 0, comm));
    ok(MPI_Scatterv(data, counts, at, MPI_INT, result, 1, MPI_INT, 0, comm));
    all_fail(MPI_Scatterv(data, counts, at, MPI_INT, result, odd ? 0 : 1, MPI_INT, 0, comm));
    ok(MPI_Allgatherv(data, 1, MPI_INT, result, counts, at, MPI_INT, comm));
    all_fail(MPI_Allgatherv(data, odd ? 0 : 1, MPI_INT, result, counts, at, MPI_INT, comm));
    ok(MPI_Alltoallv(data, counts, at, MPI_INT, result, counts, at, MPI_INT, comm));
    ok(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_INT, result, counts, at, MPI_INT, comm));
    int sent[16];
    memcpy(sent, counts, sizeof sent);
    sent[0] = odd ? 0 : 1;
    all_fail(MPI_Alltoallv(data, sent, at, MPI_INT, result, counts, at, MPI_INT, comm));
    /* As many elements in all, but other parts. */
    int parts[16];
    clear(2);
    memcpy(parts, counts, sizeof parts);
    ok(MPI_Reduce_scatter(data, result, parts, MPI_INT, MPI_SUM, comm));
    if (odd) {
        parts[0] = 1;
        parts[1] = 3;
    }
    all_fail(MPI_Reduce_scatter(data, result, parts, MPI_INT, MPI_SUM, comm));
    clear(1);
}

/* A process sends each other one more or less than it receives from it; then all do. */
static void apart(void)
{
    static const int sent[] = {1, 3, 2, 0}, received[] = {2, 2, 0, 2};
    MPI_Request request;
    for (int i = 0; i < 4; i++)
        for (int all = 0; all < 2; all++) {
            int out = odd || all ? sent[i] : 2, in = odd || all ? received[i] : 2;
            all_fail(MPI_Allgather(data, out, MPI_INT, result, in, MPI_INT, comm));
            all_fail(waited(MPI_Ialltoall(data, out, MPI_INT, result, in, MPI_INT, comm, &request), &request));
        }
    ok(MPI_Allgather(data, 2, MPI_INT, result, 2, MPI_INT, comm));
    ok(MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, result, 2, MPI_INT, comm));
    ok(MPI_Alltoall(odd ? MPI_IN_PLACE : data, 2, MPI_INT, result, 2, MPI_INT, comm));
}

static void neighbours(void)
{
    MPI_Comm world = comm, ring, wrong_ring;
    MPI_Request request;
    int next = (rank + 1) % size, before = (rank + size - 1) % size, nobody = 0;
    ok(MPI_Dist_graph_create_adjacent(world, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                      &ring));
    /* The odd process sends to nobody, which its neighbour does not know. */
    ok(MPI_Dist_graph_create_adjacent(world, 1, &before, MPI_UNWEIGHTED, odd ? 0 : 1, odd ? &nobody : &next,
                                      MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &wrong_ring));
    comm = ring;
    clear(1);
    ok(MPI_Neighbor_allgather(data, 1, MPI_INT, result, 1, MPI_INT, ring));
    all_fail(MPI_Neighbor_allgather(data, odd ? 2 : 1, MPI_INT, result, 1, MPI_INT, ring));
    ok(MPI_Neighbor_alltoallv(data, counts, at, MPI_INT, result, counts, at, MPI_INT, ring));
    clear(odd ? 0 : 1);
    int expected[] = {1};
    all_fail(waited(MPI_Ineighbor_alltoallv(data, counts, at, MPI_INT, result, expected, at, MPI_INT, ring, &request),
                    &request));
    all_fail(odd ? MPI_Neighbor_alltoall(data, 1, MPI_INT, result, 1, MPI_INT, ring)
                 : MPI_Neighbor_allgather(data, 1, MPI_INT, result, 1, MPI_INT, ring));
    comm = wrong_ring;
    all_fail(MPI_Neighbor_alltoall(data, 1, MPI_INT, result, 1, MPI_INT, wrong_ring));
    ok(MPI_Comm_free(&ring));
    ok(MPI_Comm_free(&wrong_ring));
    comm = world;
}

static void between_groups(void)
{
    MPI_Comm half, both, world = comm;
    MPI_Request request;
    int side = rank % 2, root;
    ok(MPI_Comm_split(world, side, rank, &half));
    ok(MPI_Intercomm_create(half, 0, world, !side, 5, &both));
    MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
    comm = both;
    root = side == 1 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    ok(MPI_Bcast(data, 1, MPI_INT, root, both));
    ok(MPI_Allreduce(data, result, 2, MPI_INT, MPI_SUM, both));
    ok(MPI_Allgather(data, 1 + side, MPI_INT, result, 2 - side, MPI_INT, both));
    ok(MPI_Barrier(both));
    clear(1);
    ok(MPI_Gatherv(data, 1, MPI_INT, result, counts, at, MPI_INT, root, both));
    ok(MPI_Alltoallv(data, counts, at, MPI_INT, result, counts, at, MPI_INT, both));
    /* A length that differs across the groups. */
    all_fail(MPI_Bcast(data, 1 + side, MPI_INT, root, both));
    all_fail(waited(MPI_Iallgather(data, 1, MPI_INT, result, 1 + side, MPI_INT, both, &request), &request));
    all_fail(MPI_Gatherv(data, odd ? 2 : 1, MPI_INT, result, counts, at, MPI_INT,
                         (size - 1) % 2 == 1 ? root
                         : side == 0         ? 0
                         : rank == 1         ? MPI_ROOT
                                             : MPI_PROC_NULL,
                         both));
    /* No process is the root. */
    all_fail(MPI_Bcast(data, 1, MPI_INT, side == 1 ? 0 : MPI_PROC_NULL, both));
    all_fail(odd ? MPI_Barrier(both) : MPI_Allreduce(data, result, 1, MPI_INT, MPI_SUM, both));
    ok(MPI_Comm_free(&both));
    ok(MPI_Comm_free(&half));
    comm = world;
}

/* Of several processes one makes a call in another form than the others, also as the first of a communicator. */
static void forms(int first)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm whole = comm;
    int code;
    for (int which = 0; which < 5; which++) {
        if (first)
            ok(MPI_Comm_dup(whole, &comm));
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        switch (which) {
        case 0:
            code = odd ? waited(MPI_Ibarrier(comm, &request), &request) : MPI_Barrier(comm);
            break;
        case 1:
            code = !odd ? waited(MPI_Iallreduce(data, result, 1, MPI_INT, MPI_SUM, comm, &request), &request)
                        : MPI_Allreduce(data, result, 1, MPI_INT, MPI_SUM, comm);
            break;
        case 2:
            code = odd ? waited(MPI_Ibcast(data, 9, MPI_INT, 0, comm, &request), &request)
                       : MPI_Bcast(data, 9, MPI_INT, 0, comm);
            break;
        case 3:
            code = odd ? waited(MPI_Ialltoallv(data, counts, at, MPI_INT, result, counts, at, MPI_INT, comm, &request),
                                &request)
                       : MPI_Alltoallv(data, counts, at, MPI_INT, result, counts, at, MPI_INT, comm);
            break;
        default:
            code = odd ? MPI_Barrier_init(comm, MPI_INFO_NULL, &request)
                       : MPI_Allgather(data, 1, MPI_INT, result, 1, MPI_INT, comm);
        }
        all_fail(code);
        if (first)
            ok(MPI_Comm_free(&comm));
        comm = whole;
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    comm = MPI_COMM_WORLD;
    odd = rank == size - 1;
    clear(1);
    if (size > 1) {
        forms(1);
        forms(0);
    }
    not_blocking();
    blocks();
    apart();
    neighbours();
    between_groups();
    return finish();
}
