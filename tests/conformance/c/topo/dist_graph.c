/* Distributed graphs of edges that any process names: each edge is known at both of its ends, with its weight and as
 * often as it was named; hints; wrong arguments. */
#include "check.h"

enum { MOST = 64 };

/* The edges that a process names: each is {source, destination, weight}. */
static int named(int by, int edges[MOST][3])
{
    int count = 0;
    for (int i = 0; i < (by * 7 + 3) % 11; i++, count++) {
        edges[count][0] = (by + i * i) % size;
        edges[count][1] = (by * 3 + i) % size;
        edges[count][2] = by * 100 + i;
    }
    return count;
}

static int by_rank_and_weight(const void *left, const void *right)
{
    return memcmp(left, right, sizeof(int[2]));
}

static void sort(int (*list)[2], int count)
{
    qsort(list, (size_t)count, sizeof *list, by_rank_and_weight);
}

static void every_edge_at_both_ends(int weighted)
{
    int own[MOST][3], sources[MOST], destinations[MOST], weights[MOST], degrees[MOST], in = -1, out = -1, has = -1;
    int expected_in = 0, expected_out = 0;
    static int wanted_in[1024][2], wanted_out[1024][2], got_in[1024][2], got_out[1024][2], ranks[1024], values[1024],
        out_ranks[1024], out_values[1024];
    MPI_Comm graph;
    int count = named(rank, own);
    for (int i = 0; i < count; i++) {
        sources[i] = own[i][0], destinations[i] = own[i][1], weights[i] = own[i][2];
        degrees[i] = 1;
    }
    ok(MPI_Dist_graph_create(MPI_COMM_WORLD, count, sources, degrees, destinations,
                             weighted ? weights : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
    for (int by = 0; by < size; by++) {
        int number = named(by, own);
        for (int i = 0; i < number; i++) {
            if (own[i][1] == rank)
                wanted_in[expected_in][0] = own[i][0], wanted_in[expected_in++][1] = own[i][2];
            if (own[i][0] == rank)
                wanted_out[expected_out][0] = own[i][1], wanted_out[expected_out++][1] = own[i][2];
        }
    }
    ok(MPI_Dist_graph_neighbors_count(graph, &in, &out, &has));
    check(in == expected_in && out == expected_out && has == weighted);
    memset(values, 0, sizeof values);
    ok(MPI_Dist_graph_neighbors(graph, in, ranks, values, out, out_ranks, out_values));
    for (int i = 0; i < in; i++)
        got_in[i][0] = ranks[i], got_in[i][1] = weighted ? values[i] : wanted_in[i][1];
    for (int i = 0; i < out; i++)
        got_out[i][0] = out_ranks[i], got_out[i][1] = weighted ? out_values[i] : wanted_out[i][1];
    sort(wanted_in, in), sort(got_in, in), sort(wanted_out, out), sort(got_out, out);
    check(memcmp(wanted_in, got_in, sizeof(int[2]) * (size_t)in) == 0);
    check(memcmp(wanted_out, got_out, sizeof(int[2]) * (size_t)out) == 0);
    /* Two calls give the same order. */
    memset(values, 0, sizeof values);
    static int again[1024];
    ok(MPI_Dist_graph_neighbors(graph, in, again, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED));
    check(memcmp(ranks, again, sizeof(int) * (size_t)in) == 0);
    ok(MPI_Comm_free(&graph));
}

/* All edges by one process, in lists of several destinations; a hint stays with the communicator. */
static void one_names_all(void)
{
    int sources[MOST], degrees[MOST], destinations[2 * MOST], in = -1, out = -1, has = -1, from[2], to[2], flag = 0;
    char value[8] = "";
    MPI_Info info, used;
    MPI_Comm graph;
    for (int i = 0; i < size; i++) {
        sources[i] = i, degrees[i] = 2;
        destinations[2 * i] = (i + 1) % size, destinations[2 * i + 1] = i;
    }
    ok(MPI_Info_create(&info));
    ok(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    ok(MPI_Dist_graph_create(MPI_COMM_WORLD, rank == size - 1 ? size : 0, sources, degrees, destinations,
                             MPI_UNWEIGHTED, info, 1, &graph));
    ok(MPI_Info_free(&info));
    ok(MPI_Dist_graph_neighbors_count(graph, &in, &out, &has));
    check(in == 2 && out == 2 && has == 0);
    ok(MPI_Dist_graph_neighbors(graph, 2, from, MPI_UNWEIGHTED, 2, to, MPI_UNWEIGHTED));
    check(to[0] == (rank + 1) % size && to[1] == rank);
    check((from[0] == rank || from[1] == rank) && from[0] + from[1] == rank + (rank + size - 1) % size);
    ok(MPI_Comm_get_info(graph, &used));
    ok(MPI_Info_get(used, "mpi_assert_no_any_tag", 7, value, &flag));
    check(flag && strcmp(value, "true") == 0);
    ok(MPI_Info_free(&used));
    ok(MPI_Comm_free(&graph));
}

static int made_with(int n, int source, int degree, int destination, const int *weights, MPI_Info info)
{
    MPI_Comm graph = MPI_COMM_SELF;
    int destinations[2] = {destination, destination};
    int class = class_of(
        MPI_Dist_graph_create(MPI_COMM_WORLD, n, &source, &degree, destinations, weights, info, 0, &graph));
    check((graph == MPI_COMM_SELF) == (class != MPI_SUCCESS));
    if (class == MPI_SUCCESS)
        ok(MPI_Comm_free(&graph));
    return class;
}

static void wrong_arguments(void)
{
    int weights[2] = {0, -1};
    check_equal(made_with(-1, 0, 1, 0, MPI_UNWEIGHTED, MPI_INFO_NULL), MPI_ERR_COUNT);
    check_equal(made_with(1, size, 1, 0, MPI_UNWEIGHTED, MPI_INFO_NULL), MPI_ERR_RANK);
    check_equal(made_with(1, 0, -1, 0, MPI_UNWEIGHTED, MPI_INFO_NULL), MPI_ERR_ARG);
    check_equal(made_with(1, 0, 2, -1, MPI_UNWEIGHTED, MPI_INFO_NULL), MPI_ERR_RANK);
    check_equal(made_with(1, 0, 2, 0, weights, MPI_INFO_NULL), MPI_ERR_ARG);
    check_equal(made_with(1, 0, 1, 0, weights, MPI_INFO_NULL), MPI_SUCCESS);
    check_equal(made_with(1, 0, 1, 0, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL), MPI_ERR_ARG);
    check_equal(made_with(1, 0, 1, rank == 0 ? -1 : 0, weights, MPI_INFO_NULL), MPI_ERR_RANK);
    if (size > 1)
        check_equal(made_with(1, 0, 1, 0, rank == 0 ? weights : MPI_UNWEIGHTED, MPI_INFO_NULL), MPI_ERR_NOT_SAME);
    check_equal(made_with(1, 0, 0, 0, MPI_UNWEIGHTED, MPI_INFO_NULL), MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return_errors();
    every_edge_at_both_ends(0);
    every_edge_at_both_ends(1);
    one_names_all();
    wrong_arguments();
    return finish();
}
