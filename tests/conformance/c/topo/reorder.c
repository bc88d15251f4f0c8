/* Reordered ranks: the map functions return the ranks that the creating calls assign; every process has one place;
 * neighbours exchange data. */
#include "check.h"

static void ranks_are(MPI_Comm made, int mapped, int nodes)
{
    int own = MPI_UNDEFINED, members = nodes, all = 0;
    if (made != MPI_COMM_NULL) {
        ok(MPI_Comm_rank(made, &own));
        ok(MPI_Comm_size(made, &members));
    }
    check_equal(mapped, own);
    check_equal(members, nodes);
    int bit = made == MPI_COMM_NULL ? 0 : 1 << own;
    ok(MPI_Allreduce(&bit, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    check_equal(all, (1 << nodes) - 1);
}

static void grid_of(int nodes)
{
    int dims[2] = {0, 0}, periods[2] = {1, 1}, mapped = -7, before, behind, in = -1, own;
    MPI_Comm grid;
    ok(MPI_Dims_create(nodes, 2, dims));
    ok(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &mapped));
    ok(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid));
    ranks_are(grid, mapped, nodes);
    if (grid == MPI_COMM_NULL)
        return;
    ok(MPI_Comm_rank(grid, &own));
    ok(MPI_Cart_shift(grid, 0, 1, &before, &behind));
    ok(MPI_Sendrecv(&own, 1, MPI_INT, behind, 1, &in, 1, MPI_INT, before, 1, grid, MPI_STATUS_IGNORE));
    check_equal(in, before);
    ok(MPI_Comm_free(&grid));
}

static void graph_of(int nodes)
{
    int index[16], edges[16], mapped = -7, own, neighbor = -1;
    MPI_Comm graph;
    /* Pairs of processes that are far apart in the order of ranks. */
    for (int node = 0; node < nodes; node++)
        index[node] = node + 1, edges[node] = nodes - 1 - node;
    ok(MPI_Graph_map(MPI_COMM_WORLD, nodes, index, edges, &mapped));
    ok(MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edges, 1, &graph));
    ranks_are(graph, mapped, nodes);
    if (graph == MPI_COMM_NULL)
        return;
    ok(MPI_Comm_rank(graph, &own));
    ok(MPI_Graph_neighbors(graph, own, 1, &neighbor));
    check_equal(neighbor, nodes - 1 - own);
    ok(MPI_Comm_free(&graph));
}

int main(int argc, char **argv)
{
    MPI_Comm grid;
    int own = -1;
    begin(&argc, &argv);
    for (int nodes = 1; nodes <= size; nodes++) {
        grid_of(nodes);
        graph_of(nodes);
    }
    /* Only some processes pass reorder: the order stays. */
    ok(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){0}, rank == 0, &grid));
    ok(MPI_Comm_rank(grid, &own));
    if (size > 1)
        check_equal(own, rank);
    ok(MPI_Comm_free(&grid));
    return finish();
}
