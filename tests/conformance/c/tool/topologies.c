/* The variables and the event of topologies agree with the communicators that the program creates. */
#include "events.h"

static int events, last_kind, last_reordered;
static unsigned long long last_comm, last_neighbors;

static void created(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                    void *data)
{
    events++;
    last_comm = long_element(instance, 0);
    last_kind = int_element(instance, 1);
    last_neighbors = long_element(instance, 2);
    last_reordered = int_element(instance, 3);
}

int main(int argc, char **argv)
{
    MPI_T_pvar_session session;
    MPI_T_event_registration registration;
    MPI_T_pvar_handle count, reordered, neighbors, near;
    MPI_Comm grid, line, graph, dist, copy;
    int periods[2] = {1, 0}, remain[2] = {1, 0}, dims[2] = {0, 1};
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    count = watch(session, "topo_created", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    reordered = watch(session, "topo_reordered", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    neighbors = watch(session, "topo_neighbors", MPI_T_PVAR_CLASS_AGGREGATE, MPI_COMM_NULL);
    near = watch(session, "topo_neighbors_on_package", MPI_T_PVAR_CLASS_AGGREGATE, MPI_COMM_NULL);
    registration = add_callback("topo_created", MPI_COMM_NULL, MPI_T_CB_REQUIRE_MPI_RESTRICTED, created, NULL);

    /* A ring in the first dimension: two neighbours there, none beyond the ends of the second one. */
    ok(MPI_Dims_create(size, 2, dims));
    ok(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid));
    check_equal(read_pvar(session, count), 1);
    check_equal(read_pvar(session, neighbors), 2);
    check(events == 1 && last_comm == (size_t)grid && last_kind == MPI_CART && last_neighbors == 2);
    check_equal(last_reordered, 0);
    ok(MPI_Cart_sub(grid, remain, &line));
    check_equal(read_pvar(session, neighbors), 4);
    check(events == 2 && last_comm == (size_t)line);
    check_equal(read_pvar(session, near), 0);

    /* Duplicates and splits are not created with a topology. */
    ok(MPI_Comm_dup(grid, &copy));
    ok(MPI_Comm_free(&copy));
    check_equal(read_pvar(session, count), 2);

    /* Edges to the next process: one neighbour each. */
    int *index = malloc(sizeof *index * size), *edges = malloc(sizeof *edges * size);
    for (int i = 0; i < size; i++) {
        index[i] = i + 1;
        edges[i] = (i + 1) % size;
    }
    unsigned long long orders = read_pvar(session, reordered);
    ok(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 1, &graph));
    check_equal(read_pvar(session, neighbors), 5);
    check(events == 3 && last_kind == MPI_GRAPH && last_neighbors == 1);
    check_equal(read_pvar(session, reordered), orders + last_reordered);
    check(read_pvar(session, near) <= 1);
    int source = (rank + size - 1) % size, dest = (rank + 1) % size;
    ok(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &source, MPI_UNWEIGHTED, 1, &dest, MPI_UNWEIGHTED,
                                      MPI_INFO_NULL, 0, &dist));
    check(events == 4 && last_comm == (size_t)dist && last_kind == MPI_DIST_GRAPH && last_neighbors == 1);
    check_equal(read_pvar(session, count), 4);
    check_equal(read_pvar(session, neighbors), 6);

    /* A process that the grid does not need has no new communicator. */
    int part = size > 1 ? size - 1 : 1, made = rank < part;
    MPI_Comm smaller;
    ok(MPI_Cart_create(MPI_COMM_WORLD, 1, &part, periods, 0, &smaller));
    check_equal(read_pvar(session, count), 4 + made);
    check_equal(events, 4 + made);

    ok(MPI_T_event_handle_free(registration, NULL, NULL));
    ok(MPI_T_pvar_session_free(&session));
    if (made)
        ok(MPI_Comm_free(&smaller));
    ok(MPI_Comm_free(&dist));
    ok(MPI_Comm_free(&graph));
    ok(MPI_Comm_free(&line));
    ok(MPI_Comm_free(&grid));
    ok(MPI_T_finalize());
    free(index);
    free(edges);
    return finish();
}
