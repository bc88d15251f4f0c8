/* Duplicates have the topology, other new communicators do not; a call for another kind of topology is an error,
 * whose text names the communicator's topology. */
#include "check.h"

static void kind_is(MPI_Comm comm, int expected)
{
    int kind = -1;
    ok(MPI_Topo_test(comm, &kind));
    check_equal(kind, expected);
}

static void refused(int code, const char *has)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    check_class(code, MPI_ERR_TOPOLOGY);
    MPI_Error_string(code, text, &length);
    if (strstr(text, has) == NULL && wrong++ < 10)
        fprintf(stderr, "rank %d: \"%s\" is not in: %s\n", rank, has, text);
}

static void only_calls_of(MPI_Comm comm, int kind, const char *has)
{
    int a[4], b[4], c[4], in, out;
    kind_is(comm, kind);
    ok(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    if (kind != MPI_CART) {
        MPI_Comm part;
        refused(MPI_Cartdim_get(comm, a), has);
        refused(MPI_Cart_get(comm, 4, a, b, c), has);
        refused(MPI_Cart_rank(comm, a, b), has);
        refused(MPI_Cart_coords(comm, 0, 4, a), has);
        refused(MPI_Cart_shift(comm, 0, 1, a, b), has);
        refused(MPI_Cart_sub(comm, a, &part), has);
    }
    if (kind != MPI_GRAPH) {
        refused(MPI_Graphdims_get(comm, a, b), has);
        refused(MPI_Graph_get(comm, 4, 4, a, b), has);
        refused(MPI_Graph_neighbors_count(comm, 0, a), has);
        refused(MPI_Graph_neighbors(comm, 0, 4, a), has);
    }
    if (kind != MPI_DIST_GRAPH) {
        refused(MPI_Dist_graph_neighbors_count(comm, &in, &out, a), has);
        refused(MPI_Dist_graph_neighbors(comm, 4, a, MPI_UNWEIGHTED, 4, b, MPI_UNWEIGHTED), has);
    }
}

static void goes_to_duplicates(MPI_Comm comm, int kind)
{
    MPI_Comm made;
    MPI_Request request;
    MPI_Group group;
    ok(MPI_Comm_dup(comm, &made));
    kind_is(made, kind);
    ok(MPI_Comm_free(&made));
    ok(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &made));
    kind_is(made, kind);
    ok(MPI_Comm_free(&made));
    ok(MPI_Comm_idup(comm, &made, &request));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    kind_is(made, kind);
    ok(MPI_Comm_free(&made));
    ok(MPI_Comm_split(comm, 0, 0, &made));
    kind_is(made, MPI_UNDEFINED);
    ok(MPI_Comm_free(&made));
    ok(MPI_Comm_group(comm, &group));
    ok(MPI_Comm_create(comm, group, &made));
    kind_is(made, MPI_UNDEFINED);
    ok(MPI_Comm_free(&made));
    ok(MPI_Comm_create_group(comm, group, 3, &made));
    kind_is(made, MPI_UNDEFINED);
    ok(MPI_Comm_free(&made));
    ok(MPI_Group_free(&group));
}

int main(int argc, char **argv)
{
    int dims[1], periods[1] = {1}, index[64], edges[64], coords[1] = {-1}, in = -1, out = -1, weighted = -1;
    MPI_Comm plain, grid, graph, dist, copy;
    begin(&argc, &argv);
    dims[0] = size;
    for (int i = 0; i < size; i++)
        edges[i] = (i + 1) % size, index[i] = i + 1;
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &plain));
    ok(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid));
    /* The parent's topology does not matter. */
    ok(MPI_Graph_create(grid, size, index, edges, 0, &graph));
    ok(MPI_Dist_graph_create_adjacent(graph, 1, &rank, MPI_UNWEIGHTED, 1, &rank, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                      &dist));
    only_calls_of(plain, MPI_UNDEFINED, "no topology");
    only_calls_of(grid, MPI_CART, "a Cartesian topology");
    only_calls_of(graph, MPI_GRAPH, "a graph topology");
    only_calls_of(dist, MPI_DIST_GRAPH, "a distributed graph topology");
    kind_is(MPI_COMM_WORLD, MPI_UNDEFINED);
    goes_to_duplicates(plain, MPI_UNDEFINED);
    goes_to_duplicates(grid, MPI_CART);
    goes_to_duplicates(graph, MPI_GRAPH);
    goes_to_duplicates(dist, MPI_DIST_GRAPH);
    /* A duplicate's topology exists after the parent is freed. */
    ok(MPI_Comm_dup(grid, &copy));
    ok(MPI_Comm_free(&grid));
    ok(MPI_Cart_coords(copy, rank, 1, coords));
    check_equal(coords[0], rank);
    ok(MPI_Comm_free(&copy));
    ok(MPI_Comm_dup(dist, &copy));
    ok(MPI_Comm_free(&dist));
    ok(MPI_Dist_graph_neighbors_count(copy, &in, &out, &weighted));
    check(in == 1 && out == 1 && weighted == 0);
    ok(MPI_Comm_free(&copy));
    ok(MPI_Comm_free(&graph));
    ok(MPI_Comm_free(&plain));
    return finish();
}
