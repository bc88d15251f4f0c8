/* Reductions of floating point numbers, whose results depend on the order of the sums, give the same bits in each call
 * of the same form and length: in calls one after the other, and in several jobs of as many processes, whatever process
 * comes first. So do calls that do not block on a communicator without a blocking call before. The first job starts the
 * others. */
#include "check.h"
#include <stdint.h>
#include <time.h>
#include <unistd.h>

enum { JOBS = 3, CALLS = 4, LENGTHS = 4, FORMS = 4, LONGEST = (1 << 20) / sizeof(double) };
enum { ALLREDUCE, REDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, OPERATIONS };

static const int lengths[LENGTHS] = {1, 1024 / sizeof(double), 65536 / sizeof(double), LONGEST};
/* Forms: blocking, non-blocking, persistent, and non-blocking on a communicator without a blocking call. */
enum { BLOCKING, NONBLOCKING, PERSISTENT, NONBLOCKING_FIRST };

static MPI_Comm comm;
static double *contribution, *result;
static int *counts;
/* A number for the bits of each result of this process. */
static uint64_t bits[OPERATIONS][FORMS][LENGTHS];

/* Numbers of any sign and very different sizes, the same in each job. */
static double number(int who, int place)
{
    uint64_t state = ((uint64_t)who << 32 | (uint32_t)place) * 0x9e3779b97f4a7c15u + 1;
    state = (state ^ state >> 30) * 0xbf58476d1ce4e5b9u;
    state = (state ^ state >> 27) * 0x94d049bb133111ebu;
    double value = (double)(int64_t)(state ^ state >> 31);
    for (int power = (int)(state % 23); power > 0; power--)
        value /= 16;
    return value;
}

/* Whether sums in another order have other bits, so that the test can fail. */
static int depends_on_order(void)
{
    int different = 0;
    for (int i = 0; i < 1000 && !different; i++) {
        double up = number(0, i), down = number(size - 1, i);
        for (int who = 1; who < size; who++) {
            up += number(who, i);
            down += number(size - 1 - who, i);
        }
        different = up != down;
    }
    return different;
}

/* Some processes come late, others in each call. */
static void delay(unsigned *seed)
{
    if (rand_r(seed) % 2)
        usleep((useconds_t)(rand_r(seed) % 1000));
}

#define IN_FORM(blocking, nonblocking, ...)                                                                            \
    (form == BLOCKING     ? blocking(__VA_ARGS__, comm)                                                                \
     : form == PERSISTENT ? blocking##_init(__VA_ARGS__, comm, MPI_INFO_NULL, request)                                 \
                          : nonblocking(__VA_ARGS__, comm, request))

/* Calls a function, or makes its request. */
static int call(int operation, int form, int count, MPI_Request *request)
{
    const double *from = contribution;
    int part = count < size ? 1 : count / size;
    switch (operation) {
    case ALLREDUCE:
        return IN_FORM(MPI_Allreduce, MPI_Iallreduce, from, result, count, MPI_DOUBLE, MPI_SUM);
    case REDUCE:
        return IN_FORM(MPI_Reduce, MPI_Ireduce, from, result, count, MPI_DOUBLE, MPI_SUM, size - 1);
    case REDUCE_SCATTER:
        return IN_FORM(MPI_Reduce_scatter, MPI_Ireduce_scatter, from, result, counts, MPI_DOUBLE, MPI_SUM);
    case REDUCE_SCATTER_BLOCK:
        return IN_FORM(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, from, result, part, MPI_DOUBLE, MPI_SUM);
    case SCAN:
        return IN_FORM(MPI_Scan, MPI_Iscan, from, result, count, MPI_DOUBLE, MPI_SUM);
    default:
        return IN_FORM(MPI_Exscan, MPI_Iexscan, from, result, count, MPI_DOUBLE, MPI_SUM);
    }
}

/* The bits of what this process received, and of the zeros behind it, in one number. */
static uint64_t bits_of_result(void)
{
    uint64_t all = 0xcbf29ce484222325u;
    for (int i = 0; i < LONGEST; i++) {
        uint64_t one;
        memcpy(&one, &result[i], sizeof one);
        all = (all ^ one) * 0x100000001b3u;
        all ^= all >> 32;
    }
    return all;
}

static void repeat(int operation, int form, int length, unsigned *seed)
{
    int count = lengths[length];
    MPI_Request request = MPI_REQUEST_NULL;
    for (int who = 0; who < size; who++)
        counts[who] = count / size + (who < count % size);
    if (form == PERSISTENT)
        ok(call(operation, form, count, &request));
    for (int turn = 0; turn < CALLS; turn++) {
        memset(result, 0, LONGEST * sizeof *result);
        delay(seed);
        if (form == PERSISTENT)
            ok(MPI_Start(&request));
        else
            ok(call(operation, form, count, &request));
        delay(seed);
        ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        uint64_t now = bits_of_result();
        if (turn == 0)
            bits[operation][form][length] = now;
        check(now == bits[operation][form][length]);
    }
    if (form == PERSISTENT)
        ok(MPI_Request_free(&request));
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    begin(&argc, &argv);
    ok(MPI_Comm_get_parent(&parent));
    unsigned seed = (unsigned)getpid() ^ (unsigned)time(NULL) << 8;
    /* A block of one number for each process is longer than the shortest length. */
    contribution = malloc((LONGEST + (size_t)size) * sizeof *contribution);
    result = malloc((LONGEST + (size_t)size) * sizeof *result);
    counts = malloc((size_t)size * sizeof *counts);
    for (int i = 0; i < LONGEST + size; i++)
        contribution[i] = number(rank, i);
    check(depends_on_order());
    for (int operation = 0; operation < OPERATIONS; operation++)
        for (int length = 0; length < LENGTHS; length++) {
            ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
            repeat(operation, NONBLOCKING_FIRST, length, &seed);
            ok(MPI_Comm_free(&comm));
        }
    comm = MPI_COMM_WORLD;
    for (int operation = 0; operation < OPERATIONS; operation++)
        for (int form = 0; form < NONBLOCKING_FIRST; form++)
            for (int length = 0; length < LENGTHS; length++)
                repeat(operation, form, length, &seed);

    if (parent != MPI_COMM_NULL) {
        ok(MPI_Send(bits, sizeof bits / sizeof(uint64_t), MPI_UINT64_T, rank, 0, parent));
        ok(MPI_Send(&wrong, 1, MPI_INT, rank, 0, parent));
        ok(MPI_Comm_disconnect(&parent));
    }
    for (int job = 1; job < JOBS && parent == MPI_COMM_NULL && argc == 1; job++) {
        static uint64_t theirs[OPERATIONS][FORMS][LENGTHS];
        char *arguments[] = {"again", NULL};
        MPI_Comm children;
        ok(MPI_Comm_spawn(argv[0], arguments, size, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE));
        ok(MPI_Recv(theirs, sizeof theirs / sizeof(uint64_t), MPI_UINT64_T, rank, 0, children, MPI_STATUS_IGNORE));
        int found = 0;
        ok(MPI_Recv(&found, 1, MPI_INT, rank, 0, children, MPI_STATUS_IGNORE));
        wrong += found;
        ok(MPI_Comm_disconnect(&children));
        for (int operation = 0; operation < OPERATIONS; operation++)
            for (int form = 0; form < FORMS; form++)
                for (int length = 0; length < LENGTHS; length++)
                    check_equal(theirs[operation][form][length], bits[operation][form][length]);
    }
    free(contribution), free(result), free(counts);
    /* The first job reports for all. */
    return argc == 1 ? finish() : MPI_Finalize();
}
