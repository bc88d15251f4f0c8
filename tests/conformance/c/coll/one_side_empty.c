/* Blocks between neighbours of which only one side is empty are an error of the receiver and no hang; a graph whose
 * edges go one way has no neighbourhood collectives, in all of its processes. */
#include "check.h"

/* One block each way around a ring; those from the previous process are expected to have so many elements. */
static int exchange(MPI_Comm ring, int sent, int expected)
{
    int out[2] = {rank, rank}, in[2] = {-1, -1}, send_counts[] = {sent}, recv_counts[] = {expected}, at[] = {0};
    return MPI_Neighbor_alltoallv(out, send_counts, at, MPI_INT, in, recv_counts, at, MPI_INT, ring);
}

int main(int argc, char **argv)
{
    MPI_Comm ring, chain;
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    ok(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED,
                                      MPI_INFO_NULL, 0, &ring));
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    /* The last process sends nothing, or too much, to rank 0. */
    int last = rank == size - 1;
    for (int round = 0; round < 3; round++) {
        check_class(exchange(ring, last ? 0 : 1, 1), rank == 0 ? MPI_ERR_OTHER : MPI_SUCCESS);
        check_class(exchange(ring, 1, rank == 0 ? 0 : 1), rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        ok(exchange(ring, 1, 1));
        ok(exchange(ring, 0, 0));
    }
    ok(MPI_Comm_free(&ring));

    /* Node 0 names node 1, which names nobody. */
    int index[] = {1, 1}, edges[] = {1};
    ok(MPI_Graph_create(MPI_COMM_WORLD, 2, index, edges, 0, &chain));
    if (chain != MPI_COMM_NULL) {
        int in[2], counts[] = {1, 1}, at[] = {0, 1};
        MPI_Request request;
        MPI_Comm_set_errhandler(chain, MPI_ERRORS_RETURN);
        check_class(MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, chain), MPI_ERR_TOPOLOGY);
        check_class(MPI_Ineighbor_allgatherv(&rank, 1, MPI_INT, in, counts, at, MPI_INT, chain, &request),
                    MPI_ERR_TOPOLOGY);
        ok(MPI_Comm_free(&chain));
    }
    return finish();
}
