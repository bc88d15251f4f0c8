/* Times of one-sided operations of rank 0 on the memory of rank 1: each of five operations with MPI_Win_flush under
 * MPI_Win_lock_all, between MPI_Win_lock and MPI_Win_unlock (in both rank 1 takes no part), and with MPI_Win_fence; an
 * empty MPI_Win_fence; and post, start, MPI_Put, complete and wait. Numbers `put/8` in ns, `put/1048576` in us. */
#include "floor.h"

enum { LONG_BYTES = 1 << 20 };

static int rank, size;
static MPI_Win win;
static double *data;
static long one = 1, compare, found;

enum { PUT, GET, ACCUMULATE, FETCH_AND_OP, COMPARE_AND_SWAP, OPERATIONS };

/* How operations are completed. GROUPS: post, start, complete and wait. */
enum { FLUSH, LOCK, FENCE, EMPTY_FENCE, GROUPS };

static MPI_Group partner;

static void operate(int which, int bytes)
{
    int count = bytes / 8;
    switch (which) {
    case PUT:
        MPI_Put(data, count, MPI_DOUBLE, 1, 0, count, MPI_DOUBLE, win);
        break;
    case GET:
        MPI_Get(data, count, MPI_DOUBLE, 1, 0, count, MPI_DOUBLE, win);
        break;
    case ACCUMULATE:
        MPI_Accumulate(data, count, MPI_DOUBLE, 1, 0, count, MPI_DOUBLE, MPI_SUM, win);
        break;
    case FETCH_AND_OP:
        MPI_Fetch_and_op(&one, &found, MPI_LONG, 1, 0, MPI_SUM, win);
        break;
    default:
        MPI_Compare_and_swap(&one, &compare, &found, MPI_LONG, 1, 0, win);
    }
}

static void call(int how, int which, int bytes)
{
    switch (how) {
    case FLUSH:
        operate(which, bytes);
        MPI_Win_flush(1, win);
        break;
    case LOCK:
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        operate(which, bytes);
        MPI_Win_unlock(1, win);
        break;
    case FENCE:
        if (rank == 0)
            operate(which, bytes);
        /* fall through */
    case EMPTY_FENCE:
        MPI_Win_fence(0, win);
        break;
    default:
        if (rank == 0) {
            MPI_Win_start(partner, 0, win);
            operate(which, bytes);
            MPI_Win_complete(win);
        } else {
            MPI_Win_post(partner, 0, win);
            MPI_Win_wait(win);
        }
    }
}

/* The median of the batches, in seconds; each takes about a millisecond. */
static double measure(int how, int which, int bytes)
{
    double batch[BATCHES];
    int both = how >= FENCE, calls = 20;
    for (int b = -2; b < BATCHES; b++) {
        MPI_Bcast(&calls, 1, MPI_INT, 0, MPI_COMM_WORLD);
        double begin = now(), each;
        for (int i = 0; i < calls && (both || rank == 0); i++)
            call(how, which, bytes);
        each = (now() - begin) / calls;
        if (b >= 0)
            batch[b] = each;
        else
            calls = each > 1e-3 ? 5 : each < 1e-7 ? 10000 : (int)(1e-3 / each);
    }
    return median(batch, BATCHES);
}

static void print(const char *name, const char *how, int bytes, double seconds)
{
    char text[64];
    snprintf(text, sizeof text, bytes > 0 ? "one-sided/%s%s/%d" : "one-sided/%s%s", name, how, bytes);
    if (rank == 0)
        report(text, seconds * (bytes == LONG_BYTES ? 1e6 : 1e9), bytes == LONG_BYTES ? "us" : "ns");
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"put", "get", "accumulate", "fetch_and_op", "compare_and_swap"};
    void *base;
    MPI_Group world;
    start(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    floor_begin();
    int other = 1 - rank;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &other, &partner);
    data = calloc(1, LONG_BYTES);
    MPI_Win_allocate(LONG_BYTES, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_fence(0, win);
    print("fence", "", 0, measure(EMPTY_FENCE, PUT, 8));
    for (int which = PUT; which < OPERATIONS; which++)
        print(names[which], "-fence", 8, measure(FENCE, which, 8));
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    print("post-start", "", 0, measure(GROUPS, PUT, 8));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int which = PUT; which < OPERATIONS; which++)
        print(names[which], "-lock", 8, measure(LOCK, which, 8));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int which = PUT; which < OPERATIONS; which++)
        print(names[which], "", 8, measure(FLUSH, which, 8));
    for (int which = PUT; which <= ACCUMULATE; which++)
        print(names[which], "", LONG_BYTES, measure(FLUSH, which, LONG_BYTES));
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Group_free(&world);
    MPI_Group_free(&partner);
    free(data);
    floor_end();
    MPI_Finalize();
    return 0;
}
