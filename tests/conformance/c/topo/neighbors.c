/* Collectives of neighbourhoods on grids, graphs and distributed graphs, in all forms. */
#include "check.h"

enum { FORMS = 3, N = 300, MOST = 16 };

static MPI_Comm comm;
/* The neighbours, and for each the number of this edge among those between the same two processes. */
static int indegree, outdegree, sources[MOST], destinations[MOST], in_edge[MOST], out_edge[MOST];

static int value(int from, int edge, int place)
{
    return from * 100000 + edge * 10000 + place;
}

#define IN_ALL_FORMS(form, name, iname, init, ...)                                                                     \
    do {                                                                                                               \
        MPI_Request request;                                                                                           \
        if (form == 0) {                                                                                               \
            ok(name(__VA_ARGS__, comm));                                                                               \
        } else if (form == 1) {                                                                                        \
            ok(iname(__VA_ARGS__, comm, &request));                                                                    \
            ok(MPI_Wait(&request, MPI_STATUS_IGNORE));                                                                 \
        } else {                                                                                                       \
            ok(init(__VA_ARGS__, comm, MPI_INFO_NULL, &request));                                                      \
            for (int start = 0; start < 2; start++) {                                                                  \
                ok(MPI_Start(&request));                                                                               \
                ok(MPI_Wait(&request, MPI_STATUS_IGNORE));                                                             \
            }                                                                                                          \
            ok(MPI_Request_free(&request));                                                                            \
        }                                                                                                              \
    } while (0)

/* Calls all operations; the data of an edge are known on both of its sides. */
static void all_operations(int form)
{
    static int send[MOST * N], recv[MOST * N];
    int out_counts[MOST], in_counts[MOST], out_displs[MOST], in_displs[MOST];
    MPI_Aint out_bytes[MOST], in_bytes[MOST];
    MPI_Datatype types[MOST];
    for (int k = 0; k < MOST; k++) {
        types[k] = MPI_INT;
        out_displs[k] = in_displs[k] = k * N;
        out_bytes[k] = in_bytes[k] = (MPI_Aint)(k * N * (int)sizeof(int));
        out_counts[k] = k < outdegree ? N - 7 * out_edge[k] : 0;
        in_counts[k] = k < indegree ? N - 7 * in_edge[k] : 0;
    }
#define CLEAR()                                                                                                        \
    for (int i = 0; i < MOST * N; i++)                                                                                 \
    recv[i] = -1
#define CHECK(edge, count)                                                                                             \
    for (int k = 0; k < indegree; k++)                                                                                 \
        for (int i = 0; i < N; i++)                                                                                    \
    check_equal(recv[k * N + i], sources[k] == MPI_PROC_NULL || i >= (count) ? -1 : value(sources[k], edge, i))
    for (int i = 0; i < N; i++)
        send[i] = value(rank, 9, i);
    CLEAR();
    IN_ALL_FORMS(form, MPI_Neighbor_allgather, MPI_Ineighbor_allgather, MPI_Neighbor_allgather_init, send, N, MPI_INT,
                 recv, N, MPI_INT);
    CHECK(9, N);
    CLEAR();
    for (int k = 0; k < MOST; k++)
        in_counts[k] = N;
    IN_ALL_FORMS(form, MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, MPI_Neighbor_allgatherv_init, send, N,
                 MPI_INT, recv, in_counts, in_displs, MPI_INT);
    CHECK(9, N);
    for (int k = 0; k < outdegree; k++)
        for (int i = 0; i < N; i++)
            send[k * N + i] = value(rank, out_edge[k], i);
    for (int k = 0; k < indegree; k++)
        in_counts[k] = N - 7 * in_edge[k];
    CLEAR();
    IN_ALL_FORMS(form, MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, MPI_Neighbor_alltoall_init, send, N, MPI_INT,
                 recv, N, MPI_INT);
    CHECK(in_edge[k], N);
    CLEAR();
    IN_ALL_FORMS(form, MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, MPI_Neighbor_alltoallv_init, send, out_counts,
                 out_displs, MPI_INT, recv, in_counts, in_displs, MPI_INT);
    CHECK(in_edge[k], in_counts[k]);
    CLEAR();
    IN_ALL_FORMS(form, MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, MPI_Neighbor_alltoallw_init, send, out_counts,
                 out_bytes, types, recv, in_counts, in_bytes, types);
    CHECK(in_edge[k], in_counts[k]);
}

static void in_all_forms(void)
{
    for (int form = 0; form < FORMS; form++)
        all_operations(form);
    ok(MPI_Comm_free(&comm));
}

/* What is sent down in a dimension arrives from above, also where both neighbours are the same process. */
static void grid(int ndims, int periodic)
{
    int dims[3] = {0, 0, 0}, periods[3] = {periodic, periodic, periodic};
    ok(MPI_Dims_create(size, ndims, dims));
    ok(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &comm));
    indegree = outdegree = 2 * ndims;
    for (int d = 0; d < ndims; d++) {
        ok(MPI_Cart_shift(comm, d, 1, &sources[2 * d], &sources[2 * d + 1]));
        for (int up = 0; up < 2; up++) {
            destinations[2 * d + up] = sources[2 * d + up];
            out_edge[2 * d + up] = 2 * d + up;
            in_edge[2 * d + up] = 2 * d + !up;
        }
    }
    in_all_forms();
}

/* Each process has an edge to all others and to itself. */
static void graph(void)
{
    int index[size], edges[size * size];
    for (int i = 0; i < size; i++) {
        index[i] = (i + 1) * size;
        for (int j = 0; j < size; j++)
            edges[i * size + j] = (i + j) % size;
    }
    ok(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm));
    indegree = outdegree = size;
    for (int k = 0; k < size; k++) {
        sources[k] = destinations[k] = (rank + k) % size;
        in_edge[k] = out_edge[k] = 0;
    }
    in_all_forms();
}

/* A ring in one direction, some edges twice; the last process sends nothing on. */
static void distributed(void)
{
    int before = (rank + size - 1) % size, twice = before % 2 == 0;
    indegree = before == size - 1 ? 0 : twice ? 2 : 1;
    outdegree = rank == size - 1 ? 0 : rank % 2 == 0 ? 2 : 1;
    for (int k = 0; k < 2; k++) {
        sources[k] = before;
        destinations[k] = (rank + 1) % size;
        in_edge[k] = out_edge[k] = k;
    }
    ok(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, indegree, sources, MPI_UNWEIGHTED, outdegree, destinations,
                                      MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    in_all_forms();
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    for (int ndims = 1; ndims <= 3; ndims++)
        for (int periodic = 0; periodic < 2; periodic++)
            grid(ndims, periodic);
    graph();
    distributed();
    return finish();
}
