/* Random epochs of every kind with random operations, on several windows at once by several threads, against a serial
 * model: each process computes the operations of all, performs its own, and compares its memory and what it fetched
 * after each epoch. The seed is the argument, or the time; it is printed when something differs. With a second
 * argument no lock has the assertion MPI_MODE_NOCHECK. */
#include "check.h"
#include <pthread.h>
#include <time.h>

enum { THREADS = 2, WINDOWS = 3, LANE = 96, ROUNDS = 60, MOST = 8, KINDS = 6 };

/* A window has, for each origin, a lane of words for puts, and one for fetching accumulations; then a lane to which all
 * origins accumulate. */
struct model {
    MPI_Win win;
    long *memory;
    /* The words of all targets, as they should be. */
    long *words;
};

struct random {
    unsigned long state;
};

static unsigned long seed;
static int lanes, kinds = KINDS;
static MPI_Win common;
static long *common_words;

static long below(struct random *random, long limit)
{
    random->state ^= random->state >> 12;
    random->state ^= random->state << 25;
    random->state ^= random->state >> 27;
    return (long)((random->state * 0x2545f4914f6cdd1dul) >> 33) % limit;
}

static void make_window(struct model *model, int which, MPI_Comm comm)
{
    MPI_Aint bytes = (MPI_Aint)lanes * LANE * sizeof(long);
    if (which == 0) {
        ok(MPI_Win_allocate(bytes, sizeof(long), MPI_INFO_NULL, comm, &model->memory, &model->win));
    } else if (which == 1) {
        model->memory = malloc(bytes);
        ok(MPI_Win_create(model->memory, bytes, sizeof(long), MPI_INFO_NULL, comm, &model->win));
    } else {
        ok(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &model->memory));
        ok(MPI_Win_create(model->memory, bytes, sizeof(long), MPI_INFO_NULL, comm, &model->win));
    }
    memset(model->memory, 0, bytes);
    model->words = calloc((size_t)size * lanes * LANE, sizeof(long));
    MPI_Barrier(comm);
}

/* An operation of one origin: what it fetches goes to `found`, what it should fetch to `expected`. */
static void operate(struct model *model, struct random *random, int origin, int passive, int round,
                    MPI_Datatype every_second, long *out, long *found, long *expected)
{
    int target = below(random, size), which = below(random, 8), count = 1 + below(random, MOST);
    int at = below(random, LANE / 2 - 2 * MOST);
    long value = below(random, 1 << 20);
    /* Puts go to one half of the lane in even rounds, to the other in odd ones; gets take from the other half. */
    int half = round % 2 * (LANE / 2);
    long *words = model->words + (size_t)target * lanes * LANE;
    MPI_Aint put = (MPI_Aint)origin * LANE + half, get = (MPI_Aint)origin * LANE + LANE / 2 - half;
    MPI_Aint fetch = (MPI_Aint)(size + origin) * LANE + at, add = (MPI_Aint)2 * size * LANE + at;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Op op = round % 3 ? MPI_SUM : MPI_BXOR;
    int mine = origin == rank;
    for (int i = 0; i < count; i++)
        out[i] = value + i;
    for (int i = 0; i < MOST; i++)
        expected[i] = found[i] = -1;
    switch (which) {
    case 0: /* the place is this origin's own, and written once in an epoch */
        put += target % (LANE / 2 - 2 * MOST);
        for (int i = 0; i < count; i++)
            words[put + i] = out[i];
        if (mine && passive && value % 2) {
            ok(MPI_Rput(out, count, MPI_LONG, target, put, count, MPI_LONG, model->win, &request));
            ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else if (mine) {
            ok(MPI_Put(out, count, MPI_LONG, target, put, count, MPI_LONG, model->win));
        }
        /* A second put to the same place in the same epoch has no defined order. */
        if (mine && passive)
            ok(MPI_Win_flush(target, model->win));
        break;
    case 1:
        memcpy(expected, words + get + at, count * sizeof(long));
        if (mine && passive && value % 2) {
            ok(MPI_Rget(found, count, MPI_LONG, target, get + at, count, MPI_LONG, model->win, &request));
            ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else if (mine) {
            ok(MPI_Get(found, count, MPI_LONG, target, get + at, count, MPI_LONG, model->win));
        }
        break;
    case 2: /* every second word */
        for (int i = 0; i < MOST; i++)
            expected[i] = words[get + 2 * i];
        if (mine)
            ok(MPI_Get(found, MOST, MPI_LONG, target, get, 1, every_second, model->win));
        break;
    case 3:
    case 4:
        for (int i = 0; i < count; i++)
            words[add + i] = op == MPI_SUM ? words[add + i] + out[i] : words[add + i] ^ out[i];
        if (mine && passive && value % 2) {
            ok(MPI_Raccumulate(out, count, MPI_LONG, target, add, count, MPI_LONG, op, model->win, &request));
            ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else if (mine) {
            ok(MPI_Accumulate(out, count, MPI_LONG, target, add, count, MPI_LONG, op, model->win));
        }
        break;
    case 5: /* accumulations of one origin to one place are ordered */
        for (int i = 0; i < count; i++) {
            expected[i] = words[fetch + i];
            words[fetch + i] += out[i];
        }
        if (mine)
            ok(MPI_Get_accumulate(out, count, MPI_LONG, found, count, MPI_LONG, target, fetch, count, MPI_LONG, MPI_SUM,
                                  model->win));
        break;
    case 6:
        expected[0] = words[fetch];
        if (value % 3 == 0)
            words[fetch] = out[0];
        if (mine)
            ok(MPI_Fetch_and_op(out, found, MPI_LONG, target, fetch, value % 3 ? MPI_NO_OP : MPI_REPLACE, model->win));
        break;
    default:
        expected[0] = words[fetch];
        out[1] = value % 2 ? words[fetch] : words[fetch] + 1;
        if (out[1] == words[fetch])
            words[fetch] = out[0];
        if (mine)
            ok(MPI_Compare_and_swap(out, out + 1, found, MPI_LONG, target, fetch, model->win));
    }
}

static void open_epoch(MPI_Win win, int kind, MPI_Group all)
{
    if (kind == 0) {
        ok(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    } else if (kind == 1 || kind == 2) {
        ok(MPI_Win_post(all, 0, win));
        ok(MPI_Win_start(all, 0, win));
    } else if (kind == 3) {
        ok(MPI_Win_lock_all(0, win));
    } else {
        for (int target = 0; target < size; target++)
            ok(MPI_Win_lock(MPI_LOCK_SHARED, target, kind == 4 ? 0 : MPI_MODE_NOCHECK, win));
    }
}

static void close_epoch(MPI_Win win, int kind)
{
    int flag = 0;
    if (kind == 0) {
        ok(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    } else if (kind == 1) {
        ok(MPI_Win_complete(win));
        ok(MPI_Win_wait(win));
    } else if (kind == 2) {
        ok(MPI_Win_complete(win));
        while (!flag)
            ok(MPI_Win_test(win, &flag));
    } else if (kind == 3) {
        ok(MPI_Win_flush_all(win));
        ok(MPI_Win_unlock_all(win));
    } else {
        for (int target = size - 1; target >= 0; target--)
            ok(MPI_Win_unlock(target, win));
    }
}

static MPI_Comm own[THREADS];

static void *work(void *argument)
{
    size_t thread = (size_t)argument;
    struct model models[WINDOWS];
    struct random random = {seed * 1000003ul + thread + 1};
    long out[16][MOST], found[16][MOST], expected[16][MOST];
    MPI_Comm comm = own[thread];
    MPI_Datatype every_second;
    MPI_Group all;
    int reported = 0;
    ok(MPI_Type_vector(MOST, 1, 2, MPI_LONG, &every_second));
    ok(MPI_Type_commit(&every_second));
    ok(MPI_Comm_group(comm, &all));
    for (int which = 0; which < WINDOWS; which++)
        make_window(&models[which], which, comm);
    for (int round = 0; round < ROUNDS; round++) {
        /* Epochs of one kind on several windows at once. */
        int kind = below(&random, kinds), first = below(&random, WINDOWS), together = 1 + below(&random, WINDOWS);
        for (int which = first; which < first + together; which++)
            open_epoch(models[which % WINDOWS].win, kind, all);
        int mine = 0;
        for (int origin = 0; origin < size; origin++) {
            unsigned long put_to[WINDOWS] = {0};
            int operations = below(&random, 16);
            for (int i = 0; i < operations; i++) {
                struct model *model = &models[(first + below(&random, together)) % WINDOWS];
                /* Look at the operation before it is made: an epoch has one put of an origin to a target. */
                struct random ahead = random;
                int target = below(&ahead, size), is_put = below(&ahead, 8) == 0;
                unsigned long *put = &put_to[model - models];
                if (is_put && *put >> target & 1) {
                    random = ahead;
                    continue;
                }
                *put |= (unsigned long)is_put << target;
                int slot = origin == rank ? mine++ : 15;
                long scratch[3][MOST];
                int own_slot = origin == rank;
                operate(model, &random, origin, kind >= 3, round, every_second, own_slot ? out[slot] : scratch[0],
                        own_slot ? found[slot] : scratch[1], own_slot ? expected[slot] : scratch[2]);
            }
        }
        for (int which = first; which < first + together; which++)
            close_epoch(models[which % WINDOWS].win, kind);
        MPI_Barrier(comm);
        for (int i = 0; i < mine; i++)
            for (int at = 0; at < MOST; at++)
                check_equal(found[i][at], expected[i][at]);
        for (int which = 0; which < WINDOWS; which++) {
            struct model *model = &models[which];
            ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, model->win));
            check(memcmp(model->memory, model->words + (size_t)rank * lanes * LANE, lanes * LANE * sizeof(long)) == 0);
            ok(MPI_Win_unlock(rank, model->win));
        }
        if (wrong && !reported++)
            fprintf(stderr, "seed %lu, round %d, kind %d, thread %zu, rank %d\n", seed, round, kind, thread, rank);
        /* On the window that all threads have: each adds, and flushes what it has added. */
        for (int target = 0; target < size; target++) {
            long one = 1 + thread;
            ok(MPI_Accumulate(&one, 1, MPI_LONG, target, rank, 1, MPI_LONG, MPI_SUM, common));
            ok(MPI_Win_flush(target, common));
        }
        MPI_Barrier(comm);
    }
    for (int which = 0; which < WINDOWS; which++) {
        ok(MPI_Win_free(&models[which].win));
        if (which == 1)
            free(models[which].memory);
        else if (which == 2)
            ok(MPI_Free_mem(models[which].memory));
        free(models[which].words);
    }
    ok(MPI_Group_free(&all));
    ok(MPI_Type_free(&every_second));
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    seed = argc > 1 ? strtoul(argv[1], NULL, 10) : (unsigned long)time(NULL);
    if (argc > 2)
        kinds = KINDS - 1;
    MPI_Bcast(&seed, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
    lanes = 2 * size + 1;
    ok(MPI_Win_allocate(size * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &common_words, &common));
    memset(common_words, 0, size * sizeof(long));
    for (int i = 0; i < THREADS; i++)
        ok(MPI_Comm_dup(MPI_COMM_WORLD, &own[i]));
    MPI_Barrier(MPI_COMM_WORLD);
    ok(MPI_Win_lock_all(0, common));
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ok(MPI_Win_unlock_all(common));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int origin = 0; origin < size; origin++)
        check_equal(common_words[origin], ROUNDS * THREADS * (THREADS + 1) / 2);
    for (int i = 0; i < THREADS; i++)
        ok(MPI_Comm_free(&own[i]));
    ok(MPI_Win_free(&common));
    return finish();
}
