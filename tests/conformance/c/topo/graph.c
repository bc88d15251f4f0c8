/* Graphs: the neighbours of every process as they were given, loops and repetitions included; processes that are no
 * node; wrong descriptions. */
#include "check.h"

/* Node i has i % 4 neighbours: i, i - 1, i, ... */
static int describe(int nodes, int *index, int *edges)
{
    int all = 0;
    for (int node = 0; node < nodes; node++) {
        for (int i = 0; i < node % 4; i++)
            edges[all++] = node - i % 2;
        index[node] = all;
    }
    return all;
}

static void graph_of(int nodes)
{
    int index[64], edges[256], got_index[64], got_edges[256], kind = -1, got_nodes = -1, got_all = -1;
    int all = describe(nodes, index, edges);
    MPI_Comm graph = MPI_COMM_SELF;
    ok(MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edges, nodes % 2, &graph));
    check((graph == MPI_COMM_NULL) == (rank >= nodes));
    if (graph == MPI_COMM_NULL)
        return;
    ok(MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN));
    ok(MPI_Topo_test(graph, &kind));
    check_equal(kind, MPI_GRAPH);
    ok(MPI_Graphdims_get(graph, &got_nodes, &got_all));
    check_equal(got_nodes, nodes);
    check_equal(got_all, all);
    got_index[nodes] = -7;
    ok(MPI_Graph_get(graph, nodes + 1, 256, got_index, got_edges));
    check(memcmp(index, got_index, sizeof(int) * (size_t)nodes) == 0 && got_index[nodes] == -7);
    check(memcmp(edges, got_edges, sizeof(int) * (size_t)all) == 0);
    for (int node = 0; node < nodes; node++) {
        int count = -1, neighbors[4] = {-7, -7, -7, -7};
        ok(MPI_Graph_neighbors_count(graph, node, &count));
        check_equal(count, node % 4);
        ok(MPI_Graph_neighbors(graph, node, count, neighbors));
        for (int i = 0; i < count; i++)
            check_equal(neighbors[i], node - i % 2);
        check_equal(neighbors[count], -7);
        if (count > 0)
            check_class(MPI_Graph_neighbors(graph, node, count - 1, neighbors), MPI_ERR_ARG);
    }
    check_class(MPI_Graph_neighbors_count(graph, nodes, &kind), MPI_ERR_RANK);
    check_class(MPI_Graph_neighbors_count(graph, -1, &kind), MPI_ERR_RANK);
    check_class(MPI_Graph_get(graph, nodes - 1, 256, got_index, got_edges), MPI_ERR_ARG);
    ok(MPI_Comm_free(&graph));
}

int main(int argc, char **argv)
{
    MPI_Comm graph = MPI_COMM_SELF;
    int newrank = -7;
    begin(&argc, &argv);
    return_errors();
    for (int nodes = 1; nodes <= size; nodes++)
        graph_of(nodes);
    ok(MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &graph));
    check(graph == MPI_COMM_NULL);
    graph = MPI_COMM_SELF;
    check_class(MPI_Graph_create(MPI_COMM_WORLD, size + 1, NULL, NULL, 0, &graph), MPI_ERR_ARG);
    check_class(MPI_Graph_create(MPI_COMM_WORLD, -1, NULL, NULL, 0, &graph), MPI_ERR_ARG);
    check_class(MPI_Graph_create(MPI_COMM_WORLD, 1, (int[]){-1}, NULL, 0, &graph), MPI_ERR_ARG);
    check_class(MPI_Graph_create(MPI_COMM_WORLD, 1, (int[]){1}, NULL, 0, &graph), MPI_ERR_ARG);
    check_class(MPI_Graph_create(MPI_COMM_WORLD, 1, (int[]){1}, (int[]){1}, 0, &graph), MPI_ERR_RANK);
    check_class(MPI_Graph_create(MPI_COMM_WORLD, 1, (int[]){1}, (int[]){-1}, 0, &graph), MPI_ERR_RANK);
    /* One process is wrong, or different from the others. */
    check_class(MPI_Graph_create(MPI_COMM_WORLD, 1, (int[]){1}, (int[]){rank == 0 ? 5 : 0}, 0, &graph), MPI_ERR_RANK);
    check_class(MPI_Graph_map(MPI_COMM_WORLD, 1, (int[]){1}, (int[]){rank == 0 ? 5 : 0}, &newrank), MPI_ERR_RANK);
    if (size > 1) {
        int nodes = rank == 0 ? 1 : 2;
        check_class(MPI_Graph_create(MPI_COMM_WORLD, nodes, (int[]){0, 0}, NULL, 0, &graph), MPI_ERR_NOT_SAME);
        check_class(MPI_Graph_map(MPI_COMM_WORLD, nodes, (int[]){0, 0}, NULL, &newrank), MPI_ERR_NOT_SAME);
    }
    check(graph == MPI_COMM_SELF && newrank == -7);
    return finish();
}
