/* Tasks that reduce. */
#ifndef FERRUM_COLLECTIVES_REDUCTIONS_H
#define FERRUM_COLLECTIVES_REDUCTIONS_H

#include "moves.h"

/* The layout of elements: of a predefined type, or of two numbers in one of the layouts of two items. */
static struct layout plain[LENGTH(types)];
static int two_numbers; /* the item of the program's operations, an index of `types` */

static inline void make_plain(void)
{
    for (unsigned i = 0; i < type_count; i++) {
        plain[i] = (struct layout){types[i].handle, 1, types[i].extent, {0}, types[i].extent};
        if (types[i].handle == MPI_UINT32_T)
            two_numbers = (int)i;
    }
}

static inline int own_operation(enum what what)
{
    return what == AFFINE || what == ADD;
}

/* Elements of each process's part of the result. */
static inline MPI_Count part_of(const struct task *task, int side, int rank)
{
    const struct place *place = task->place;
    if (task->operation->result != REDUCES_PART)
        return task->size;
    /* As many in both groups: each group's parts add up to the same. */
    if (task->operation->lists == SAME)
        return place->kind == INTER ? task->size * place->ranks[!side] : task->size;
    MPI_Count total = task->size * place->ranks[0] * (place->kind == INTER ? place->ranks[1] : 1), before = 0, end = 0;
    for (int i = 0; i <= rank; i++) {
        uint64_t random = mixed(task->seed, 500u + (unsigned)side, (unsigned)i);
        before = end;
        end = i == place->ranks[side] - 1 ? total : before + (MPI_Count)(random % (uint64_t)(total - before + 1));
    }
    return end - before;
}

static inline void prepare_reduction(struct task *task, uint64_t *own)
{
    struct args *args = &task->args;
    const struct place *place = task->place;
    uint64_t shared = task->seed + 99;
    const struct layout *layout = &plain[task->item];
    if (own_operation(task->what))
        layout = &all_layouts[two_numbers * LAYOUTS + (int[]){2, 3, 5, 4}[draw(&shared, tolerant ? 3 : 4)]];
    MPI_Count all = 0, before = 0, mine = part_of(task, place->side, place->rank);
    int receives = task->operation->rooted == NO_ROOT || is_root(task);
    int sends = task->operation->rooted == NO_ROOT || place->kind != INTER || place->side != task->root_side;
    if (task->operation->result == REDUCES_PART) {
        for (int i = 0; i < place->ranks[place->side]; i++) {
            MPI_Count part = part_of(task, place->side, i);
            before += i < place->rank ? part : 0;
            all += part;
            args->recvcounts.small[i] = (int)part;
            args->recvcounts.large[i] = part;
        }
    } else {
        all = mine;
    }
    args->recvcount = args->count = mine;
    args->datatype = layout->type;
    args->op = operations[task->what].handle;
    if (task->call->large && large_affine != MPI_OP_NULL && own_operation(task->what) && draw(&shared, 2))
        args->op = task->what == AFFINE ? large_affine : large_add;
    /* With MPI_IN_PLACE the operands are in the buffer of the result, which has room for all of them. */
    task->send.block[0] = (struct block){layout, all, 0, 0, 0, 1};
    task->receive.block[0] = (struct block){layout, task->in_place ? all : mine, 0, 0, (int)before, 1};
    if (sends && !(task->in_place && receives)) {
        task->send.blocks = 1;
        place_blocks(&task->send, SAME, own, NULL, NULL, NULL);
        args->sendbuf = task->send.address;
    }
    if (receives) {
        task->receive.blocks = 1;
        place_blocks(&task->receive, SAME, own, NULL, NULL, NULL);
        args->recvbuf = task->receive.address;
    }
    if (task->in_place && receives)
        args->sendbuf = MPI_IN_PLACE;
}

/* An operand: element `at` of a process. */
static inline struct number operand(const struct task *task, uint64_t seed, int process, MPI_Count at)
{
    unsigned char memory[LARGEST_ITEM] = {0};
    const struct type *type = &types[task->item];
    store(type, memory, element(type, task->what, mixed(seed, (uint64_t)process, (uint64_t)at)));
    return load(type, memory);
}

static inline void write_operand(const struct task *task, unsigned char *memory, const struct block *block,
                                 uint64_t seed, int process)
{
    for (MPI_Count i = 0; i < block->elements; i++) {
        if (own_operation(task->what)) {
            uint64_t both = mixed(seed, (uint64_t)process, (uint64_t)i);
            uint32_t numbers[2] = {(uint32_t)both, (uint32_t)(both >> 32)};
            memcpy(item_at(memory, block, 2 * i), &numbers[0], 4);
            memcpy(item_at(memory, block, 2 * i + 1), &numbers[1], 4);
        } else {
            memset(item_at(memory, block, i), 0, (size_t)types[task->item].extent);
            store(&types[task->item], item_at(memory, block, i), operand(task, seed, process, i));
        }
    }
}

/* The result of the processes from rank 0 to rank `last` of a group, for elements from `before` on. */
static inline void write_result(const struct task *task, const struct block *block, MPI_Count elements, uint64_t seed,
                                int side, int last)
{
    unsigned char *memory = task->receive.image;
    const struct type *type = &types[task->item];
    for (MPI_Count i = 0; i < elements; i++) {
        MPI_Count at = i + block->slot;
        if (own_operation(task->what)) {
            uint32_t result[2] = {0, 0};
            for (int rank = 0; rank <= last; rank++) {
                uint64_t both = mixed(seed, (uint64_t)who(side, rank), (uint64_t)at);
                uint32_t numbers[2] = {(uint32_t)both, (uint32_t)(both >> 32)};
                if (rank > 0)
                    combine_two(task->what, result, numbers);
                memcpy(result, numbers, sizeof result);
            }
            memcpy(item_at(memory, block, 2 * i), &result[0], 4);
            memcpy(item_at(memory, block, 2 * i + 1), &result[1], 4);
            continue;
        }
        /* Every step is stored and loaded again, so that it has the range and precision of the type. */
        unsigned char *to = item_at(memory, block, i);
        memset(to, 0, (size_t)type->extent);
        store(type, to, operand(task, seed, who(side, 0), at));
        for (int rank = 1; rank <= last; rank++)
            store(type, to, combine(type->class, task->what, load(type, to),
                                    operand(task, seed, who(side, rank), at)));
    }
}

/* Copies the elements that the call leaves undefined into the image, and sets bytes without data to zero. */
static inline void forgive(struct task *task)
{
    struct side *side = &task->receive;
    struct block *block = &side->block[0];
    int undefined = task->operation->result == PREFIX_BEFORE && task->place->rank == 0;
    MPI_Count defined = undefined ? 0 : task->args.count;
    int items = block->layout->items, bytes = block->layout->item_bytes;
    for (MPI_Count i = defined * items; i < block->elements * items; i++)
        memcpy(item_at(side->image, block, i), item_at(side->memory, block, i), (size_t)bytes);
    for (MPI_Count i = 0; !own_operation(task->what) && i < block->elements; i++) {
        clean(&types[task->item], item_at(side->memory, block, i));
        clean(&types[task->item], item_at(side->image, block, i));
    }
}

static inline void fill_reduction(struct task *task, uint64_t seed)
{
    const struct place *place = task->place;
    int me = who(place->side, place->rank), from = place->kind == INTER ? !place->side : 0;
    int last = task->operation->result == PREFIX          ? place->rank
               : task->operation->result == PREFIX_BEFORE ? place->rank - 1
                                                          : place->ranks[from] - 1;
    if (task->send.blocks > 0) {
        write_operand(task, task->send.memory, &task->send.block[0], seed, me);
        write_operand(task, task->send.image, &task->send.block[0], seed, me);
    }
    if (task->receive.blocks > 0) {
        if (task->in_place)
            write_operand(task, task->receive.memory, &task->receive.block[0], seed, me);
        if (last >= 0)
            write_result(task, &task->receive.block[0], task->args.count, seed, from, last);
    }
}

#endif
