/* The large-count forms of all collective operations, blocking, non-blocking and persistent, on one integer a block. */
#include "check.h"

static MPI_Comm comm, ring;
static int mine[64], all[64];
static MPI_Count ones[16];
static MPI_Aint places[16], bytes_at[16];
static MPI_Datatype types[16];
static MPI_Request request;

/* Completes what a call has started: a persistent one after a start. */
static void finished(int persistent)
{
    if (persistent)
        ok(MPI_Start(&request));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (persistent)
        ok(MPI_Request_free(&request));
}

/* The three forms of an operation; after each, `right` holds. */
#define FORMS(name, iname, on, right, ...)                                                                             \
    do {                                                                                                               \
        refill();                                                                                                      \
        ok(MPI_##name##_c(__VA_ARGS__, on));                                                                           \
        check(right);                                                                                                  \
        refill();                                                                                                      \
        ok(MPI_##iname##_c(__VA_ARGS__, on, &request));                                                                \
        finished(0);                                                                                                   \
        check(right);                                                                                                  \
        refill();                                                                                                      \
        ok(MPI_##name##_init_c(__VA_ARGS__, on, MPI_INFO_NULL, &request));                                             \
        finished(1);                                                                                                   \
        check(right);                                                                                                  \
    } while (0)

static void refill(void)
{
    for (int i = 0; i < 64; i++) {
        mine[i] = 100 * rank + i;
        all[i] = -1;
    }
}

/* Block `from` of the result is the block of that rank: its number `of`, or the one for this rank. */
static int gathered(int of)
{
    for (int from = 0; from < size; from++)
        if (all[from] != 100 * from + (of < 0 ? rank : of))
            return 0;
    return 1;
}

static int sum(int n)
{
    return 100 * (n * (n - 1) / 2);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    comm = MPI_COMM_WORLD;
    check(size <= 8);
    for (int i = 0; i < 16; i++) {
        ones[i] = 1;
        places[i] = i;
        bytes_at[i] = i * (MPI_Aint)sizeof(int);
        types[i] = MPI_INT;
    }
    FORMS(Bcast, Ibcast, comm, rank == 0 || mine[0] == 0, mine, 1, MPI_INT, 0);
    FORMS(Gather, Igather, comm, rank != 0 || gathered(0), mine, 1, MPI_INT, all, 1, MPI_INT, 0);
    FORMS(Gatherv, Igatherv, comm, rank != 0 || gathered(0), mine, 1, MPI_INT, all, ones, places, MPI_INT, 0);
    FORMS(Scatter, Iscatter, comm, all[0] == rank, mine, 1, MPI_INT, all, 1, MPI_INT, 0);
    FORMS(Scatterv, Iscatterv, comm, all[0] == rank, mine, ones, places, MPI_INT, all, 1, MPI_INT, 0);
    FORMS(Allgather, Iallgather, comm, gathered(0), mine, 1, MPI_INT, all, 1, MPI_INT);
    FORMS(Allgatherv, Iallgatherv, comm, gathered(0), mine, 1, MPI_INT, all, ones, places, MPI_INT);
    FORMS(Alltoall, Ialltoall, comm, gathered(-1), mine, 1, MPI_INT, all, 1, MPI_INT);
    FORMS(Alltoallv, Ialltoallv, comm, gathered(-1), mine, ones, places, MPI_INT, all, ones, places, MPI_INT);
    FORMS(Alltoallw, Ialltoallw, comm, gathered(-1), mine, ones, bytes_at, types, all, ones, bytes_at, types);
    FORMS(Reduce, Ireduce, comm, rank != 0 || all[0] == sum(size), mine, all, 1, MPI_INT, MPI_SUM, 0);
    FORMS(Allreduce, Iallreduce, comm, all[0] == sum(size), mine, all, 1, MPI_INT, MPI_SUM);
    FORMS(Reduce_scatter, Ireduce_scatter, comm, all[0] == sum(size) + size * rank, mine, all, ones, MPI_INT, MPI_SUM);
    FORMS(Reduce_scatter_block, Ireduce_scatter_block, comm, all[0] == sum(size) + size * rank, mine, all, 1, MPI_INT,
          MPI_SUM);
    FORMS(Scan, Iscan, comm, all[0] == sum(rank + 1), mine, all, 1, MPI_INT, MPI_SUM);
    FORMS(Exscan, Iexscan, comm, rank == 0 || all[0] == sum(rank), mine, all, 1, MPI_INT, MPI_SUM);

    /* A ring: the neighbours are the rank before and the one behind. */
    int periods[1] = {1}, before = (rank + size - 1) % size, behind = (rank + 1) % size;
    ok(MPI_Cart_create(comm, 1, &size, periods, 0, &ring));
    FORMS(Neighbor_allgather, Ineighbor_allgather, ring, all[0] == 100 * before && all[1] == 100 * behind, mine, 1,
          MPI_INT, all, 1, MPI_INT);
    FORMS(Neighbor_allgatherv, Ineighbor_allgatherv, ring, all[0] == 100 * before && all[1] == 100 * behind, mine, 1,
          MPI_INT, all, ones, places, MPI_INT);
    FORMS(Neighbor_alltoall, Ineighbor_alltoall, ring, all[0] == 100 * before + 1 && all[1] == 100 * behind, mine, 1,
          MPI_INT, all, 1, MPI_INT);
    FORMS(Neighbor_alltoallv, Ineighbor_alltoallv, ring, all[0] == 100 * before + 1 && all[1] == 100 * behind, mine,
          ones, places, MPI_INT, all, ones, places, MPI_INT);
    FORMS(Neighbor_alltoallw, Ineighbor_alltoallw, ring, all[0] == 100 * before + 1 && all[1] == 100 * behind, mine,
          ones, bytes_at, types, all, ones, bytes_at, types);
    /* Displacements from MPI_BOTTOM are addresses. */
    MPI_Aint from[2], to[2];
    ok(MPI_Get_address(&mine[0], &from[0]));
    ok(MPI_Get_address(&mine[1], &from[1]));
    ok(MPI_Get_address(&all[0], &to[0]));
    ok(MPI_Get_address(&all[1], &to[1]));
    FORMS(Neighbor_alltoallw, Ineighbor_alltoallw, ring, all[0] == 100 * before + 1 && all[1] == 100 * behind,
          MPI_BOTTOM, ones, from, types, MPI_BOTTOM, ones, to, types);
    ok(MPI_Comm_free(&ring));
    return finish();
}
