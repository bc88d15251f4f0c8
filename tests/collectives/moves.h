/* Tasks that move data. A task is one call with its arguments, its data and the expected result; all follow from a seed
 * that its processes share. */
#ifndef FERRUM_COLLECTIVES_MOVES_H
#define FERRUM_COLLECTIVES_MOVES_H

#include "sides.h"

struct task {
    const struct operation *operation;
    const struct call *call;
    const struct place *place;
    uint64_t seed;
    int round, rounds;
    int in_place, root, root_side; /* the root's rank and group */
    MPI_Count size;                /* units of a block, or elements of a reduction */
    int item;                      /* the type of items, or of elements */
    enum what what;
    MPI_Request request;
    struct args args;
    struct side send, receive;
};

static inline int is_root(const struct task *task)
{
    return task->place->rank == task->root && task->place->side == task->root_side;
}

/* Units of a block for data of a source and slot: what its sender and its receiver both compute. */
static inline MPI_Count units(const struct task *task, int source, int slot)
{
    if (task->operation->lists == SAME)
        return task->size;
    /* With MPI_IN_PLACE as much goes there as comes back. */
    int low = task->in_place && source > slot ? slot : source, high = task->in_place && source > slot ? source : slot;
    return (MPI_Count)(mixed(task->seed, (uint64_t)low << 8, (uint64_t)high) % (uint64_t)(task->size + 1));
}

/* Adds a block of items in a layout. */
static inline void add_block(struct task *task, struct side *side, int layout, int source, int slot)
{
    const struct layout *chosen = &all_layouts[task->item * LAYOUTS + layout];
    struct block block = {chosen, units(task, source, slot) * UNIT / chosen->items, 0, source, slot, 1};
    side->block[side->blocks++] = block;
}

/* The blocks that this process sends or receives in an operation that moves data. */
static inline void moved_blocks(struct task *task, struct side *side, int sends, uint64_t *own)
{
    const struct operation *op = task->operation;
    const struct place *place = task->place;
    enum blocks mine = sends ? op->from : op->to;
    int all = !along_edges(op), group = other(place), me = who(place->side, place->rank);
    int degree = all ? place->ranks[group] : sends ? place->outdegree : place->indegree;
    int layout = (int)draw(own, LAYOUTS);
    for (int i = 0; i < (mine == ONE_BLOCK ? 1 : degree); i++) {
        if (op->lists == TYPES)
            layout = (int)draw(own, LAYOUTS);
        struct edge edge = all ? (struct edge){i, place->rank} : place->in[i];
        if (mine == ONE_BLOCK && !sends)
            edge = (struct edge){task->root, op->from == ONE_BLOCK ? 0 : place->rank};
        int slot = op->from == ONE_BLOCK ? 0 : sends ? i : edge.slot;
        int absent = mine == EACH_BLOCK && !all && (sends ? place->out[i] : edge.peer) == MPI_PROC_NULL;
        add_block(task, side, layout, sends || absent ? me : who(group, edge.peer), absent ? MOST + i : slot);
        side->block[i].holds = sends || !absent;
    }
}

/* Whether this process sends (receives) anything in an operation that moves data. */
static inline int takes_part(const struct task *task, int sends)
{
    const struct operation *op = task->operation;
    if (op->from == NO_BLOCK)
        return 0;
    if (op->rooted == NO_ROOT)
        return 1;
    if (sends == (op->rooted == FROM_ROOT))
        return is_root(task);
    if (task->place->kind == INTER)
        return task->place->side != task->root_side;
    return strcmp(op->name, "Bcast") != 0 || !is_root(task);
}

/* The data and lists of an operation that moves data. */
static inline void prepare_move(struct task *task, uint64_t *own)
{
    struct args *args = &task->args;
    enum lists lists = task->operation->lists;
    int sends = takes_part(task, 1), receives = takes_part(task, 0);
    int both = task->operation->from == EACH_BLOCK && task->operation->to == EACH_BLOCK;
    if (sends) {
        moved_blocks(task, &task->send, 1, own);
        place_blocks(&task->send, task->operation->from == EACH_BLOCK ? lists : SAME, own, &args->sendcounts,
                     both ? &args->sdispls : &args->displs, args->sendtypes);
        args->sendtype = task->send.blocks > 0 ? task->send.block[0].layout->type : MPI_INT;
        args->sendcount = task->send.blocks > 0 ? task->send.block[0].elements : 0;
        args->sendbuf = task->send.address;
    }
    if (receives) {
        moved_blocks(task, &task->receive, 0, own);
        place_blocks(&task->receive, task->operation->to == EACH_BLOCK ? lists : SAME, own, &args->recvcounts,
                     both ? &args->rdispls : &args->displs, args->recvtypes);
        args->recvtype = task->receive.blocks > 0 ? task->receive.block[0].layout->type : MPI_INT;
        args->recvcount = task->receive.blocks > 0 ? task->receive.block[0].elements : 0;
        args->recvbuf = task->receive.address;
    }
    if (task->operation->rooted != NO_ROOT && strcmp(task->operation->name, "Bcast") == 0) {
        args->buffer = sends ? args->sendbuf : args->recvbuf;
        args->count = sends ? args->sendcount : args->recvcount;
        args->datatype = sends ? args->sendtype : receives ? args->recvtype : MPI_INT;
    }
}

/* With MPI_IN_PLACE: what this process sends is in the buffer that it receives into, or the reverse. */
static inline void move_in_place(struct task *task)
{
    struct args *args = &task->args;
    if (task->operation->rooted == FROM_ROOT) {
        /* The root's own part stays where it is. */
        if (is_root(task)) {
            free_side(&task->receive);
            args->recvbuf = MPI_IN_PLACE;
            args->recvtype = MPI_DATATYPE_NULL;
        }
    } else if (task->operation->rooted == NO_ROOT || is_root(task)) {
        free_side(&task->send);
        args->sendbuf = MPI_IN_PLACE;
        args->sendcount = 0;
        args->sendtype = MPI_DATATYPE_NULL;
    }
}

/* Writes what is sent, and into the images what must be received. */
static inline void fill_move(struct task *task, uint64_t seed)
{
    struct side *send = &task->send, *receive = &task->receive;
    const struct place *place = task->place;
    for (int i = 0; i < send->blocks; i++) {
        write_block(send->memory, &send->block[i], seed);
        write_block(send->image, &send->block[i], seed);
    }
    for (int i = 0; i < receive->blocks; i++) {
        struct block block = receive->block[i];
        if (block.holds)
            write_block(receive->image, &block, seed);
        if (!task->in_place || task->args.sendbuf != MPI_IN_PLACE)
            continue;
        if (task->operation->from == EACH_BLOCK) {
            block.source = who(place->side, place->rank);
            block.slot = i;
            write_block(receive->memory, &block, seed);
        } else if (i == place->rank) {
            write_block(receive->memory, &block, seed);
        }
    }
}

#endif
