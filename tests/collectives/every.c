/* Every collective function on every kind of communicator, with random data, types, roots and sizes; on some of each
 * kind with the first, a middle and the last root, in both groups, in place and not, with no data, little and much; and
 * every reduction with every predefined operation on every type and with the program's own operations, within the world
 * and between its odd and even ranks, against a serial model.
 * Arguments: a seed; the number of cases of each function on each communicator; `tolerant` leaves out operations on
 * types that the library refuses; a function or operation, to test only that. */
#include "tasks.h"

static struct task task;

static void run(const struct call *call, const struct place *place, uint64_t seed, const struct pair *pair,
                const struct fixed *fixed)
{
    prepare(&task, call, place, seed, pair, fixed);
    do {
        begin_round(&task);
        if (seed % 3 == 0) {
            int done = task.request == MPI_REQUEST_NULL;
            while (!done)
                OK(MPI_Test(&task.request, &done, MPI_STATUS_IGNORE));
        } else {
            OK(MPI_Wait(&task.request, MPI_STATUS_IGNORE));
        }
    } while (end_round(&task));
    release(&task);
}

/* Each place of the root, with and without MPI_IN_PLACE, with each of three sizes; the number of cases. */
static int run_all_fixed(const struct call *call, const struct place *place, uint64_t seed)
{
    static const MPI_Count sizes[] = {0, 1, 1500};
    const struct operation *operation = operation_of(call);
    int last_root = operation->rooted == NO_ROOT ? FIRST : LAST, done = 0;
    int last_side = operation->rooted != NO_ROOT && place->kind == INTER;
    for (int in_place = 0; in_place <= (operation->in_place && place->kind != INTER); in_place++)
        for (int side = 0; side <= last_side; side++)
            for (int root = FIRST; root <= last_root; root++)
                for (unsigned size = 0; size < LENGTH(sizes); size++, done++) {
                    struct fixed fixed = {in_place, root, sizes[size], side};
                    run(call, place, mixed(seed, 7, (uint64_t)done), NULL, &fixed);
                }
    return done;
}

/* Each pair of type and operation in one of the six forms of each reduction, another one than in other reductions, the
 * program's own in all; the number of cases. */
static int run_all_pairs(const struct call *call, const struct place *place, uint64_t seed)
{
    unsigned form = (unsigned)call->form * 2 + (unsigned)call->large, shift = 0;
    int done = 0;
    for (const char *at = call->operation; *at; at++)
        shift += (unsigned char)*at;
    for (unsigned i = 0; i < pair_count; i++)
        if ((i + shift) % 6 == form || own_operation(pairs[i].what)) {
            run(call, place, mixed(seed, 1, i), &pairs[i], NULL);
            done++;
        }
    return done;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int cases = argc > 2 ? atoi(argv[2]) : 10, done = 0, rank;
    const char *only = argc > 4 && *argv[4] ? argv[4] : NULL;
    tolerant = argc > 3 && strcmp(argv[3], "tolerant") == 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    print_seed(rank, seed);
    make_all(seed);
    for (unsigned c = 0; c < LENGTH(calls); c++) {
        const struct call *call = &calls[c];
        if (only != NULL && strcmp(only, call->name) != 0 && strcmp(only, call->operation) != 0)
            continue;
        double start = MPI_Wtime();
        int of_kind[] = {0, 0, 0};
        for (int p = 0; p < place_count; p++) {
            /* The same places in all processes, also where this one is not in them. */
            int between = is_named(&places[p], "odd ranks to even ranks");
            int fixed = of_kind[places[p].kind]++ == 0 || between || is_named(&places[p], "distributed graph");
            if (places[p].comm == MPI_COMM_NULL || !applies(call, places[p].kind))
                continue;
            for (int i = 0; i < cases; i++, done++)
                run(call, &places[p], mixed(seed, c * 100, (uint64_t)i), NULL, NULL);
            if (fixed)
                done += run_all_fixed(call, &places[p], mixed(seed, c * 100 + 2, (uint64_t)p));
            if ((p == 0 || between) && operation_of(call)->result != MOVES)
                done += run_all_pairs(call, &places[p], mixed(seed, c * 100 + 1, (uint64_t)p));
        }
        if (rank == 0 && argc > 5)
            printf("%s %.3f s\n", call->name, MPI_Wtime() - start);
    }
    if (rank == 0)
        printf("seed %llu: %d functions, %d cases\n", (unsigned long long)seed, (int)LENGTH(calls), done);
    free_all();
    return finish();
}
