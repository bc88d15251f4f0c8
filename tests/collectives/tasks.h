/* The life of a task: `prepare`, then `begin_round`, complete its request, `end_round`, until `end_round` returns 0;
 * `release`. */
#ifndef FERRUM_COLLECTIVES_TASKS_H
#define FERRUM_COLLECTIVES_TASKS_H

#include "reductions.h"

/* An operation and a type on which it is defined, for all pairs of both; the last two are the program's own. */
struct pair {
    int item;
    enum what what;
};

/* What a case has in place of what the seed chooses. */
struct fixed {
    int in_place;
    enum { FIRST, MIDDLE, LAST } root;
    MPI_Count size;
    int root_side; /* of an intercommunicator: the group of the root; -1: as the seed chooses */
};

static struct pair pairs[1000];
static unsigned pair_count;
/* Types whose elements have no gaps, for data that is only moved. */
static int moved[LENGTH(types)];
static unsigned moved_count;

static inline void make_pairs(void)
{
    char in[LARGEST_ITEM] = {0}, inout[LARGEST_ITEM] = {0};
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    for (unsigned i = 0; i < type_count; i++) {
        if (!padded(&types[i]) && !(tolerant && parts[types[i].first].bytes == 16))
            moved[moved_count++] = (int)i;
        for (enum what what = SUM; what < AFFINE; what++) {
            if ((defined[types[i].class] & BIT(what)) == 0)
                continue;
            int code = MPI_Reduce_local(in, inout, 1, types[i].handle, operations[what].handle);
            CHECK(code == MPI_SUCCESS || tolerant, "%s is not defined on %s", operations[what].name, types[i].name);
            if (code == MPI_SUCCESS)
                pairs[pair_count++] = (struct pair){(int)i, what};
        }
    }
    pairs[pair_count++] = (struct pair){two_numbers, AFFINE};
    pairs[pair_count++] = (struct pair){two_numbers, ADD};
}

static inline void make_all(uint64_t seed)
{
    given_seed = seed;
    choose_types();
    layout_count = type_count * LAYOUTS;
    all_layouts = calloc(layout_count, sizeof *all_layouts);
    for (unsigned i = 0; i < type_count; i++)
        make_layouts(all_layouts + i * LAYOUTS, types[i].handle, types[i].extent);
    make_plain();
    make_operations();
    make_pairs();
    make_places(seed);
}

static inline void free_all(void)
{
    free_places(places);
    free_operations();
    free_layouts();
}

/* Units of a block, or elements; the larger, the rarer. */
static inline MPI_Count some_size(uint64_t *state, int reduces)
{
    static const int sizes[] = {0, 1, 1, 1, 2, 2, 3, 3, 5, 7, 8, 12, 17, 20, 33, 40, 64, 90, 150, 300};
    unsigned rare = draw(state, 200);
    if (rare == 0)
        return reduces ? 20000 : 4000;
    return rare < 6 ? 1500 : sizes[draw(state, LENGTH(sizes))];
}

/* A task with everything but the pair of type and operation, and what is fixed, chosen by the seed; `pair`, `fixed`:
 * NULL for any. */
static inline void prepare(struct task *task, const struct call *call, const struct place *place, uint64_t seed,
                           const struct pair *pair, const struct fixed *fixed)
{
    const struct operation *operation = operation_of(call);
    uint64_t shared = seed, own = mixed(seed, 1000, (uint64_t)who(place->side, place->rank));
    memset(task, 0, sizeof *task);
    task->operation = operation;
    task->call = call;
    task->place = place;
    task->seed = seed;
    task->request = MPI_REQUEST_NULL;
    task->rounds = call->form == PERSISTENT ? 1 + (int)draw(&shared, 3) : 1;
    task->in_place = operation->in_place && place->kind != INTER && draw(&shared, 4) == 0;
    task->root_side = place->kind == INTER ? (int)draw(&shared, 2) : place->side;
    if (fixed != NULL && fixed->root_side >= 0 && place->kind == INTER)
        task->root_side = fixed->root_side;
    task->root = (int)draw(&shared, (unsigned)place->ranks[task->root_side]);
    task->size = some_size(&shared, operation->result != MOVES);
    if (fixed != NULL) {
        int last = place->ranks[task->root_side] - 1;
        task->in_place = fixed->in_place;
        task->root = fixed->root == FIRST ? 0 : fixed->root == LAST ? last : last / 2;
        task->size = fixed->size;
    }
    task->args.comm = place->comm;
    task->args.info = MPI_INFO_NULL;
    task->args.root = task->root;
    if (place->kind == INTER && place->side == task->root_side)
        task->args.root = is_root(task) ? MPI_ROOT : MPI_PROC_NULL;
    task->args.sendtype = task->args.recvtype = task->args.datatype = MPI_INT;
    for (int i = 0; i < MOST; i++)
        task->args.sendtypes[i] = task->args.recvtypes[i] = MPI_INT;
    if (operation->result == MOVES) {
        task->item = moved[draw(&shared, moved_count)];
        prepare_move(task, &own);
        if (task->in_place)
            move_in_place(task);
        return;
    }
    unsigned chosen = draw(&shared, pair_count + pair_count / 2);
    if (pair == NULL && chosen < pair_count)
        pair = &pairs[chosen];
    task->item = pair == NULL ? two_numbers : pair->item;
    task->what = pair == NULL ? (chosen % 3 == 0 ? ADD : AFFINE) : pair->what;
    if (tolerant && operation->result == REDUCES_PART && task->what == AFFINE)
        task->what = ADD;
    prepare_reduction(task, &own);
}

/* Writes the data and makes the call: when it returns, `request` is to be completed. */
static inline void begin_round(struct task *task)
{
    uint64_t seed = mixed(task->seed, 3000, (uint64_t)task->round);
    if (task->send.bytes > 0)
        begin_side(&task->send);
    if (task->receive.bytes > 0)
        begin_side(&task->receive);
    if (task->operation->result == MOVES)
        fill_move(task, seed);
    else
        fill_reduction(task, seed);
    if (task->round == 0) {
        int code = task->call->function(&task->args, &task->request);
        CHECK(code == MPI_SUCCESS, "MPI_%s fails on %s", task->call->name, task->place->what);
        OK(code);
    }
    if (task->call->form == PERSISTENT)
        OK(MPI_Start(&task->request));
}

/* Compares the data; returns whether there is another round. */
static inline int end_round(struct task *task)
{
    const struct side *sides[] = {&task->send, &task->receive};
    if (task->operation->result != MOVES && task->receive.blocks > 0)
        forgive(task);
    for (int i = 0; i < 2; i++)
        CHECK(difference(sides[i]) == INT64_MIN,
              "MPI_%s on %s: rank %d of side %d: the %s buffer is wrong from byte %ld of %ld on "
              "(task %llu, size %ld, %s of %s, root %d, %s, round %d)",
              task->call->name, task->place->what, task->place->rank, task->place->side, i ? "receive" : "send",
              difference(sides[i]), (long)sides[i]->bytes - 2 * MARGIN, (unsigned long long)task->seed,
              (long)task->size, task->operation->result == MOVES ? "items" : operations[task->what].name,
              types[task->item].name, task->root, task->in_place ? "in place" : "two buffers", task->round);
    CHECK(task->call->form == PERSISTENT || task->request == MPI_REQUEST_NULL, "MPI_%s: a request is left",
          task->call->name);
    return ++task->round < task->rounds;
}

static inline void release(struct task *task)
{
    if (task->request != MPI_REQUEST_NULL)
        OK(MPI_Request_free(&task->request));
    free_side(&task->send);
    free_side(&task->receive);
}

#endif
