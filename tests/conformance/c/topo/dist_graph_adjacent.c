/* Distributed graphs of which each process gives its own edges: order, loops, repetitions and weights are kept; short
 * arrays get the first neighbours; weights in some processes only are an error. */
#include "check.h"

static void ring(int weighted)
{
    int left = (rank + size - 1) % size, right = (rank + 1) % size, kind = -1, in = -1, out = -1, has = -1;
    int sources[3] = {right, rank, left}, destinations[4] = {left, rank, right, right};
    int source_weights[3] = {7, 0, 9}, destination_weights[4] = {1, 2, 3, 2147483647};
    int got[4], got_weights[4] = {-7, -7, -7, -7}, got_out[4], got_out_weights[4] = {-7, -7, -7, -7};
    MPI_Comm graph;
    ok(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, sources, weighted ? source_weights : MPI_UNWEIGHTED, 4,
                                      destinations, weighted ? destination_weights : MPI_UNWEIGHTED, MPI_INFO_NULL, 1,
                                      &graph));
    ok(MPI_Topo_test(graph, &kind));
    check_equal(kind, MPI_DIST_GRAPH);
    ok(MPI_Dist_graph_neighbors_count(graph, &in, &out, &has));
    check(in == 3 && out == 4 && has == weighted);
    ok(MPI_Dist_graph_neighbors(graph, 3, got, got_weights, 4, got_out, got_out_weights));
    check(memcmp(got, sources, sizeof sources) == 0 && memcmp(got_out, destinations, sizeof destinations) == 0);
    if (weighted) {
        check(memcmp(got_weights, source_weights, sizeof source_weights) == 0);
        check(memcmp(got_out_weights, destination_weights, sizeof destination_weights) == 0);
    } else {
        check(got_weights[0] == -7 && got_out_weights[3] == -7);
    }
    /* Only the first part of each list, without weights. */
    got[1] = got[2] = got_out[1] = got_weights[0] = got_out_weights[1] = -7;
    ok(MPI_Dist_graph_neighbors(graph, 1, got, MPI_UNWEIGHTED, 1, got_out, weighted ? got_out_weights : NULL));
    check(got[0] == right && got[1] == -7 && got_weights[0] == -7);
    check(got_out[0] == left && got_out[1] == -7 && got_out_weights[1] == -7);
    ok(MPI_Dist_graph_neighbors(graph, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_WEIGHTS_EMPTY));
    ok(MPI_Comm_free(&graph));
}

/* Processes without edges pass any weights. */
static void some_without_edges(void)
{
    int first = rank == 0, self = 0, weight = 5, in = -1, out = -1, has = -1;
    MPI_Comm graph;
    for (int form = 0; form < 4; form++) {
        const int *empty = form == 0 ? MPI_WEIGHTS_EMPTY : form == 1 ? NULL : form == 2 ? MPI_UNWEIGHTED : &weight;
        ok(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, first, &self, first ? &weight : empty, first, &self,
                                          first ? &weight : empty, MPI_INFO_NULL, 0, &graph));
        ok(MPI_Dist_graph_neighbors_count(graph, &in, &out, &has));
        check(in == first && out == first && has == 1);
        ok(MPI_Comm_free(&graph));
    }
    /* Without any edge, MPI_UNWEIGHTED in all processes is unweighted. */
    ok(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                      0, &graph));
    ok(MPI_Dist_graph_neighbors_count(graph, &in, &out, &has));
    check(in == 0 && out == 0 && has == 0);
    ok(MPI_Comm_free(&graph));
    ok(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY,
                                      MPI_INFO_NULL, 0, &graph));
    ok(MPI_Dist_graph_neighbors_count(graph, &in, &out, &has));
    check_equal(has, 1);
    ok(MPI_Comm_free(&graph));
}

static int made_with(int degree, int neighbor, const int *in_weights, const int *out_weights)
{
    MPI_Comm graph = MPI_COMM_SELF;
    int class = class_of(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, &neighbor, in_weights, degree,
                                                        &neighbor, out_weights, MPI_INFO_NULL, 0, &graph));
    check((graph == MPI_COMM_SELF) == (class != MPI_SUCCESS));
    if (class == MPI_SUCCESS)
        ok(MPI_Comm_free(&graph));
    return class;
}

static void wrong_arguments(void)
{
    int weight = 1, negative = -1;
    check_equal(made_with(-1, 0, MPI_UNWEIGHTED, MPI_UNWEIGHTED), MPI_ERR_ARG);
    check_equal(made_with(1, size, MPI_UNWEIGHTED, MPI_UNWEIGHTED), MPI_ERR_RANK);
    check_equal(made_with(1, MPI_PROC_NULL, MPI_UNWEIGHTED, MPI_UNWEIGHTED), MPI_ERR_RANK);
    check_equal(made_with(1, 0, &negative, &weight), MPI_ERR_ARG);
    check_equal(made_with(1, 0, &weight, MPI_UNWEIGHTED), MPI_ERR_ARG);
    check_equal(made_with(1, 0, MPI_WEIGHTS_EMPTY, MPI_WEIGHTS_EMPTY), MPI_ERR_ARG);
    check_equal(made_with(1, 0, NULL, NULL), MPI_ERR_ARG);
    /* One process is wrong, or different from the others. */
    check_equal(made_with(1, rank == 0 ? -5 : 0, &weight, &weight), MPI_ERR_RANK);
    if (size > 1) {
        const int *own = rank == 0 ? MPI_UNWEIGHTED : &weight;
        check_equal(made_with(1, 0, own, own), MPI_ERR_NOT_SAME);
    }
    check_equal(made_with(1, 0, &weight, &weight), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return_errors();
    ring(0);
    ring(1);
    some_without_edges();
    wrong_arguments();
    return finish();
}
