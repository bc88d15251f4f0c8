/* Reads cases of topologies from a file and writes the library's answers, one file a rank and one line a case, for
 * `model.py` to compare: cases FILE OUTPUT. A case is a letter and numbers; `model.py` describes them. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 4096 };
static FILE *in, *out;
static int rank, size;

static int number(void)
{
    int value;
    if (fscanf(in, "%d", &value) != 1) {
        fprintf(stderr, "the file of cases ends within a case\n");
        exit(3);
    }
    return value;
}

static void numbers(int *list, int count)
{
    if (count > MOST)
        exit(3);
    for (int i = 0; i < count; i++)
        list[i] = number();
}

static void write_all(const int *list, int count)
{
    for (int i = 0; i < count; i++)
        fprintf(out, " %d", list[i]);
}

/* Whether the call succeeded; its class is written otherwise. */
static int worked(int code)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) {
        MPI_Error_class(code, &class);
        fprintf(out, " E%d", class);
    }
    return code == MPI_SUCCESS;
}

static void balanced(void)
{
    static int dims[MOST];
    int nodes = number(), ndims = number();
    numbers(dims, ndims);
    if (rank == 0 && worked(MPI_Dims_create(nodes, ndims, dims)))
        write_all(dims, ndims);
}

/* The members of a communicator by their ranks in another. */
static void write_members(MPI_Comm comm, MPI_Comm of)
{
    static int own[MOST], found[MOST];
    MPI_Group inner, outer;
    int count;
    MPI_Comm_group(comm, &inner);
    MPI_Comm_group(of, &outer);
    MPI_Group_size(inner, &count);
    for (int i = 0; i < count; i++)
        own[i] = i;
    MPI_Group_translate_ranks(inner, count, own, outer, found);
    fprintf(out, " members");
    write_all(found, count);
    MPI_Group_free(&inner);
    MPI_Group_free(&outer);
}

static void grid(void)
{
    int dims[16], periods[16], coords[16], remain[16], found = -1, before = -1, behind = -1;
    int ndims = number();
    numbers(dims, ndims);
    numbers(periods, ndims);
    int mask = number(), step = number(), questions = number();
    MPI_Comm made = MPI_COMM_NULL, part = MPI_COMM_NULL;
    int there = worked(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &made)) && made != MPI_COMM_NULL;
    if (there) {
        MPI_Comm_rank(made, &found);
        if (worked(MPI_Cart_get(made, ndims, dims, periods, coords))) {
            write_all(dims, ndims);
            write_all(periods, ndims);
            write_all(coords, ndims);
        }
        if (worked(MPI_Cart_coords(made, found, ndims, coords)))
            write_all(coords, ndims);
        for (int direction = 0; direction < ndims; direction++)
            if (worked(MPI_Cart_shift(made, direction, step, &before, &behind)))
                fprintf(out, " shift %d %d", before == MPI_PROC_NULL ? -1 : before,
                        behind == MPI_PROC_NULL ? -1 : behind);
        for (int i = 0; i < ndims; i++)
            remain[i] = mask >> i & 1;
        if (worked(MPI_Cart_sub(made, remain, &part))) {
            MPI_Cartdim_get(part, &ndims);
            fprintf(out, " sub %d", ndims);
            write_members(part, made);
            MPI_Comm_free(&part);
        }
        MPI_Cartdim_get(made, &ndims);
    }
    for (int i = 0; i < questions; i++) {
        numbers(coords, ndims);
        if (there && worked(MPI_Cart_rank(made, coords, &found)))
            fprintf(out, " at %d", found);
    }
    if (there)
        MPI_Comm_free(&made);
}

static void graph(void)
{
    static int index[MOST], edges[MOST], neighbors[MOST];
    int nodes = number(), all = number(), count = -1;
    numbers(index, nodes);
    numbers(edges, all);
    MPI_Comm made = MPI_COMM_NULL;
    if (!worked(MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edges, 0, &made)) || made == MPI_COMM_NULL)
        return;
    if (worked(MPI_Graphdims_get(made, &nodes, &all)) && worked(MPI_Graph_get(made, nodes, all, index, edges))) {
        write_all(index, nodes);
        write_all(edges, all);
    }
    for (int node = 0; node < nodes; node++)
        if (worked(MPI_Graph_neighbors_count(made, node, &count))
            && worked(MPI_Graph_neighbors(made, node, count, neighbors))) {
            fprintf(out, " of");
            write_all(neighbors, count);
        }
    MPI_Comm_free(&made);
}

/* The neighbours that a distributed graph has at this process, with their weights if there are any. */
static void write_neighbors(MPI_Comm made)
{
    static int sources[MOST], in_weights[MOST], destinations[MOST], out_weights[MOST];
    int indegree = -1, outdegree = -1, weighted = -1;
    if (!worked(MPI_Dist_graph_neighbors_count(made, &indegree, &outdegree, &weighted)))
        return;
    if (!worked(MPI_Dist_graph_neighbors(made, indegree, sources, in_weights, outdegree, destinations, out_weights)))
        return;
    fprintf(out, " weighted %d in", weighted);
    write_all(sources, indegree);
    if (weighted)
        write_all(in_weights, indegree);
    fprintf(out, " out");
    write_all(destinations, outdegree);
    if (weighted)
        write_all(out_weights, outdegree);
}

static void adjacent(void)
{
    static int lists[2][2][MOST], degrees[2], list[MOST];
    int weighted = number();
    for (int process = 0; process < size; process++)
        for (int end = 0; end < 2; end++) {
            int degree = number();
            for (int column = 0; column < 2; column++) {
                numbers(list, degree);
                for (int i = 0; process == rank && i < degree; i++)
                    lists[end][column][i] = list[i];
            }
            if (process == rank)
                degrees[end] = degree;
        }
    MPI_Comm made = MPI_COMM_NULL;
    if (worked(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degrees[0], lists[0][0],
                                              weighted ? lists[0][1] : MPI_UNWEIGHTED, degrees[1], lists[1][0],
                                              weighted ? lists[1][1] : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made))) {
        write_neighbors(made);
        MPI_Comm_free(&made);
    }
}

static void named(void)
{
    static int sources[MOST], degrees[MOST], destinations[MOST], weights[MOST];
    int weighted = number(), all = number(), count = 0;
    for (int i = 0; i < all; i++) {
        int by = number(), source = number(), destination = number(), weight = number();
        if (by != rank)
            continue;
        sources[count] = source, destinations[count] = destination, weights[count] = weight;
        degrees[count++] = 1;
    }
    MPI_Comm made = MPI_COMM_NULL;
    if (worked(MPI_Dist_graph_create(MPI_COMM_WORLD, count, sources, degrees, destinations,
                                     weighted ? weights : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made))) {
        write_neighbors(made);
        MPI_Comm_free(&made);
    }
}

int main(int argc, char **argv)
{
    char path[4096], kind;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (argc < 3)
        return 3;
    snprintf(path, sizeof path, "%s.%d", argv[2], rank);
    in = fopen(argv[1], "r");
    out = fopen(path, "w");
    if (in == NULL || out == NULL)
        return 3;
    while (fscanf(in, " %c", &kind) == 1) {
        fprintf(out, "%c", kind);
        switch (kind) {
        case 'D': balanced(); break;
        case 'C': grid(); break;
        case 'G': graph(); break;
        case 'A': adjacent(); break;
        case 'E': named(); break;
        default: return 3;
        }
        fprintf(out, "\n");
    }
    fclose(in);
    fclose(out);
    MPI_Finalize();
    return 0;
}
