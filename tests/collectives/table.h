/* The operations: one line each, from which the model follows. */
#ifndef FERRUM_COLLECTIVES_TABLE_H
#define FERRUM_COLLECTIVES_TABLE_H

#include "places.h"

enum blocks { NO_BLOCK, ONE_BLOCK, EACH_BLOCK }; /* EACH: one for each peer */
enum rooted { NO_ROOT, FROM_ROOT, TO_ROOT };
enum lists { SAME, COUNTS, TYPES }; /* TYPES: with counts and displacements in bytes */
enum result { MOVES, REDUCES, REDUCES_PART, PREFIX, PREFIX_BEFORE };

struct operation {
    const char *name;
    enum result result;
    enum blocks from, to;
    enum rooted rooted;
    enum lists lists;
    int in_place;
    unsigned kinds; /* of communicators, as bits */
};

enum { ON_INTRA = 1 << INTRA | 1 << NEIGHBORS, ON_ALL = ON_INTRA | 1 << INTER, ON_NEIGHBORS = 1 << NEIGHBORS };

/* Operations on all processes are tested on topologies, too; there each process has all others as peers. */
static const struct operation table[] = {
    {"Barrier", MOVES, NO_BLOCK, NO_BLOCK, NO_ROOT, SAME, 0, ON_ALL},
    {"Bcast", MOVES, ONE_BLOCK, ONE_BLOCK, FROM_ROOT, SAME, 0, ON_ALL},
    {"Gather", MOVES, ONE_BLOCK, EACH_BLOCK, TO_ROOT, SAME, 1, ON_ALL},
    {"Gatherv", MOVES, ONE_BLOCK, EACH_BLOCK, TO_ROOT, COUNTS, 1, ON_ALL},
    {"Scatter", MOVES, EACH_BLOCK, ONE_BLOCK, FROM_ROOT, SAME, 1, ON_ALL},
    {"Scatterv", MOVES, EACH_BLOCK, ONE_BLOCK, FROM_ROOT, COUNTS, 1, ON_ALL},
    {"Allgather", MOVES, ONE_BLOCK, EACH_BLOCK, NO_ROOT, SAME, 1, ON_ALL},
    {"Allgatherv", MOVES, ONE_BLOCK, EACH_BLOCK, NO_ROOT, COUNTS, 1, ON_ALL},
    {"Alltoall", MOVES, EACH_BLOCK, EACH_BLOCK, NO_ROOT, SAME, 1, ON_ALL},
    {"Alltoallv", MOVES, EACH_BLOCK, EACH_BLOCK, NO_ROOT, COUNTS, 1, ON_ALL},
    {"Alltoallw", MOVES, EACH_BLOCK, EACH_BLOCK, NO_ROOT, TYPES, 1, ON_ALL},
    {"Reduce", REDUCES, ONE_BLOCK, ONE_BLOCK, TO_ROOT, SAME, 1, ON_ALL},
    {"Allreduce", REDUCES, ONE_BLOCK, ONE_BLOCK, NO_ROOT, SAME, 1, ON_ALL},
    {"Reduce_scatter", REDUCES_PART, ONE_BLOCK, ONE_BLOCK, NO_ROOT, COUNTS, 1, ON_ALL},
    {"Reduce_scatter_block", REDUCES_PART, ONE_BLOCK, ONE_BLOCK, NO_ROOT, SAME, 1, ON_ALL},
    {"Scan", PREFIX, ONE_BLOCK, ONE_BLOCK, NO_ROOT, SAME, 1, ON_INTRA},
    {"Exscan", PREFIX_BEFORE, ONE_BLOCK, ONE_BLOCK, NO_ROOT, SAME, 1, ON_INTRA},
    {"Neighbor_allgather", MOVES, ONE_BLOCK, EACH_BLOCK, NO_ROOT, SAME, 0, ON_NEIGHBORS},
    {"Neighbor_allgatherv", MOVES, ONE_BLOCK, EACH_BLOCK, NO_ROOT, COUNTS, 0, ON_NEIGHBORS},
    {"Neighbor_alltoall", MOVES, EACH_BLOCK, EACH_BLOCK, NO_ROOT, SAME, 0, ON_NEIGHBORS},
    {"Neighbor_alltoallv", MOVES, EACH_BLOCK, EACH_BLOCK, NO_ROOT, COUNTS, 0, ON_NEIGHBORS},
    {"Neighbor_alltoallw", MOVES, EACH_BLOCK, EACH_BLOCK, NO_ROOT, TYPES, 0, ON_NEIGHBORS},
};

static inline const struct operation *operation_of(const struct call *call)
{
    for (unsigned i = 0; i < LENGTH(table); i++)
        if (strcmp(table[i].name, call->operation) == 0)
            return &table[i];
    fprintf(stderr, "no model of %s\n", call->name);
    abort();
}

/* Whether an operation goes over the edges of a topology. */
static inline int along_edges(const struct operation *operation)
{
    return operation->kinds == ON_NEIGHBORS;
}

/* For other libraries: leaves out what they are known to refuse or to fail at; here those are failures. */
static int tolerant;

/* Whether a call can be made on a kind of communicator. */
static inline int applies(const struct call *call, enum kind kind)
{
    if (tolerant && kind == INTER && call->form != BLOCKING && strcmp(call->operation, "Bcast") == 0)
        return 0;
    return (kind != INTER || call->inter) && (operation_of(call)->kinds >> kind & 1) != 0;
}

#endif
