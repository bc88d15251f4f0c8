/* The communicators that operations are tested on, with the edges between their processes. */
#ifndef FERRUM_COLLECTIVES_PLACES_H
#define FERRUM_COLLECTIVES_PLACES_H

#include "base.h"

enum kind { INTRA, INTER, NEIGHBORS };

/* Where a block comes from: the process, and which of its blocks for single destinations it is. */
struct edge {
    int peer, slot;
};

struct place {
    const char *what;
    MPI_Comm comm; /* MPI_COMM_NULL where the process is in none */
    enum kind kind;
    int rank, side;     /* in the own group; which of the two groups of an intercommunicator it is */
    int ranks[2];       /* of the groups; one group: the same number twice */
    int indegree, outdegree;
    struct edge in[MOST];
    int out[MOST];
};

enum { PLACES = 24 };

static struct place places[PLACES];
static int place_count;

/* A process of the place, as one number. */
static inline int who(int side, int rank)
{
    return side * 64 + rank;
}

static inline int is_named(const struct place *place, const char *name)
{
    return strcmp(place->what, name) == 0;
}

/* The group that the peers of a process are in. */
static inline int other(const struct place *place)
{
    return place->kind == INTER ? !place->side : 0;
}

static inline struct place *add_place(const char *what, MPI_Comm comm, enum kind kind, int side)
{
    /* The same index on all processes, also on those that the communicator lacks. */
    struct place *place = &places[place_count++];
    memset(place, 0, sizeof *place);
    place->what = what;
    place->comm = comm;
    place->kind = kind;
    place->side = side;
    if (comm == MPI_COMM_NULL)
        return NULL;
    OK(MPI_Comm_rank(comm, &place->rank));
    OK(MPI_Comm_size(comm, &place->ranks[side]));
    place->ranks[!side] = place->ranks[side];
    if (kind == INTER)
        OK(MPI_Comm_remote_size(comm, &place->ranks[!side]));
    if (kind != NEIGHBORS) {
        place->indegree = place->outdegree = place->ranks[kind == INTER ? !side : side];
        for (int i = 0; i < place->indegree; i++) {
            place->in[i] = (struct edge){i, place->rank};
            place->out[i] = i;
        }
    }
    return place;
}

static inline void add_intra(void)
{
    int rank, size;
    MPI_Comm comm;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    add_place("world", comm, INTRA, 0);
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &comm));
    add_place("reversed", comm, INTRA, 0);
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm));
    add_place("half", comm, INTRA, 0);
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    add_place("self", comm, INTRA, 0);
}

/* An intercommunicator between the ranks of side 0 and those of side 1; -1 takes no part. */
static inline void add_inter(const char *what, int side, int leader0, int leader1)
{
    MPI_Comm local, inter = MPI_COMM_NULL;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    OK(MPI_Comm_split(MPI_COMM_WORLD, side < 0 ? MPI_UNDEFINED : side, rank, &local));
    if (side >= 0) {
        OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, side == 0 ? leader1 : leader0, 5, &inter));
        OK(MPI_Comm_free(&local));
    }
    add_place(what, inter, INTER, side);
}

static inline void add_inters(void)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2)
        return;
    add_inter("one to the others", rank > 0, 0, 1);
    if (size > 2)
        add_inter("odd ranks to even ranks", rank % 2, 0, 1);
    if (size > 3)
        add_inter("the last two to others", rank >= size - 2 ? 0 : rank == 0 ? -1 : 1, size - 2, 1);
}

static inline void add_cart(const char *what, int dimensions, const int *sizes, const int *periods)
{
    MPI_Comm comm;
    OK(MPI_Cart_create(MPI_COMM_WORLD, dimensions, sizes, periods, 0, &comm));
    struct place *place = add_place(what, comm, NEIGHBORS, 0);
    if (place == NULL)
        return;
    place->indegree = place->outdegree = 2 * dimensions;
    for (int d = 0; d < dimensions; d++) {
        int before, after;
        OK(MPI_Cart_shift(comm, d, 1, &before, &after));
        place->out[2 * d] = before;
        place->out[2 * d + 1] = after;
        /* What comes from the one side was sent to the other side. */
        place->in[2 * d] = (struct edge){before, 2 * d + 1};
        place->in[2 * d + 1] = (struct edge){after, 2 * d};
    }
}

static inline void add_carts(void)
{
    static const int periodic[3] = {1, 1, 1}, open[3] = {0, 0, 0}, mixed_periods[3] = {0, 1, 1};
    int size, both[2] = {0, 0};
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    OK(MPI_Dims_create(size, 2, both));
    add_cart("ring", 1, &size, periodic);
    add_cart("line", 1, &size, open);
    add_cart("grid", 2, both, mixed_periods);
    add_cart("thin grid", 3, (int[]){1, size, 1}, periodic);
    if (size > 1)
        add_cart("two rows", 2, (int[]){2, size / 2}, periodic);
    add_cart("point", 0, both, open);
}

/* Fills in the edges from the lists of all processes: the n-th edge from one process to another in the one's list of
 * destinations is the n-th in the other's list of sources. */
static inline void match_edges(struct place *place, const int *sources)
{
    int mine[MOST + 1] = {place->outdegree}, *all = calloc((size_t)place->ranks[0] * (MOST + 1), sizeof *all);
    memcpy(mine + 1, place->out, (size_t)place->outdegree * sizeof *mine);
    OK(MPI_Allgather(mine, MOST + 1, MPI_INT, all, MOST + 1, MPI_INT, place->comm));
    for (int i = 0; i < place->indegree; i++) {
        const int *theirs = all + sources[i] * (MOST + 1);
        int nth = 0, slot = -1;
        for (int before = 0; before <= i; before++)
            nth += sources[before] == sources[i];
        while (nth > 0 && ++slot < theirs[0])
            nth -= theirs[1 + slot] == place->rank;
        CHECK(slot < theirs[0], "%s: rank %d has no edge from rank %d", place->what, place->rank, sources[i]);
        place->in[i] = (struct edge){sources[i], slot};
    }
    free(all);
}

/* Edges in both directions, some several times, and from processes to themselves. */
static inline void add_graph(uint64_t seed)
{
    int size, index[MOST], edges[MOST * MOST], end = 0;
    MPI_Comm comm;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++) {
            int low = i < j ? i : j, high = i < j ? j : i;
            for (int times = (int)(mixed(seed, (uint64_t)low, (uint64_t)high) % 3); times > 0; times--)
                edges[end++] = j;
        }
        index[i] = end;
    }
    OK(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm));
    struct place *place = add_place("graph", comm, NEIGHBORS, 0);
    OK(MPI_Graph_neighbors_count(comm, place->rank, &place->indegree));
    place->outdegree = place->indegree;
    OK(MPI_Graph_neighbors(comm, place->rank, place->indegree, place->out));
    match_edges(place, place->out);
}

static inline void add_dist_graph(const char *what, MPI_Comm comm)
{
    struct place *place = add_place(what, comm, NEIGHBORS, 0);
    int weighted, sources[MOST], weights[MOST];
    OK(MPI_Dist_graph_neighbors_count(comm, &place->indegree, &place->outdegree, &weighted));
    OK(MPI_Dist_graph_neighbors(comm, place->indegree, sources, weighted ? weights : MPI_UNWEIGHTED, place->outdegree,
                                place->out, weighted ? weights : MPI_UNWEIGHTED));
    match_edges(place, sources);
}

/* Directed edges, of which any process may have none: once by the processes at their ends, once by any process. */
static inline void add_dist_graphs(uint64_t seed)
{
    int rank, size, in = 0, out = 0, sources[MOST], destinations[MOST], weights[MOST], degree;
    MPI_Comm comm;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < size; i++) {
        static const int times[] = {0, 1, 0, 2, 1};
        for (int n = times[mixed(seed, (uint64_t)i, (uint64_t)rank) % 5]; n > 0; n--)
            sources[in++] = i;
        for (int n = times[mixed(seed, (uint64_t)rank, (uint64_t)i) % 5]; n > 0; n--)
            destinations[out++] = i;
    }
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, MPI_UNWEIGHTED, out, destinations, MPI_UNWEIGHTED,
                                      MPI_INFO_NULL, 0, &comm));
    add_dist_graph("adjacent graph", comm);
    int from = size - 1 - rank;
    for (degree = 0; degree < (rank + 1) % 4; degree++) {
        destinations[degree] = (int)(mixed(seed, 7 + (uint64_t)rank, (uint64_t)degree) % (unsigned)size);
        weights[degree] = degree + 1;
    }
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, degree > 0, &from, &degree, destinations, weights, MPI_INFO_NULL, 0,
                             &comm));
    add_dist_graph("distributed graph", comm);
}

/* The same communicators on all processes, of which a process lacks some. */
static inline void make_places(uint64_t seed)
{
    add_intra();
    add_inters();
    add_carts();
    add_graph(seed);
    add_dist_graphs(seed + 1);
    for (int i = 0; i < place_count; i++)
        if (places[i].comm != MPI_COMM_NULL)
            OK(MPI_Comm_set_errhandler(places[i].comm, MPI_ERRORS_RETURN));
}

/* The same places with communicators of their own, for another thread. */
static inline void duplicate_places(struct place *copies)
{
    for (int i = 0; i < place_count; i++) {
        copies[i] = places[i];
        if (places[i].comm != MPI_COMM_NULL) {
            OK(MPI_Comm_dup(places[i].comm, &copies[i].comm));
            OK(MPI_Comm_set_errhandler(copies[i].comm, MPI_ERRORS_RETURN));
        }
    }
}

static inline void free_places(struct place *list)
{
    for (int i = 0; i < place_count; i++)
        if (list[i].comm != MPI_COMM_NULL)
            OK(MPI_Comm_free(&list[i].comm));
}

#endif
