/* Microseconds a call of each collective operation, of the slowest rank: the blocking form, the non-blocking one with
 * MPI_Wait, and the persistent one with MPI_Start and MPI_Wait; of 8 bytes, 1 KiB, 64 KiB and 1 MiB, which are the
 * vector of a reduction, the message of a broadcast, and the block for each process of other operations.
 *
 * Functions that a library lacks are left out: all are weak symbols. With the argument `blocking` only that form is
 * measured, with `frequent` that form of the six most frequent operations, with `between` all forms between two groups
 * of half of the ranks each: data go both ways, but for operations with a root, which go from or to rank 0. */
#include "floor.h"

enum { FEW_BATCHES = 7, MOST = 64 };

static struct {
    char *in, *out;
    int bytes, count, elements; /* of a block; all blocks together; doubles of a block */
    int counts[MOST], elements_each[MOST], at[MOST];
    MPI_Aint far[MOST];
    MPI_Datatype types[MOST];
    MPI_Comm comm, ring;
    int root; /* 0, or what stands for it between two groups */
} a;

#define WEAK __attribute__((weak))
#define WORLD MPI_COMM_WORLD

/* Three functions of the library, and one that calls them with the arguments that stand in the table below. */
#define OPERATION(name, other, PARAMETERS, ARGUMENTS)                                                                  \
    int MPI_##name(PARAMETERS) WEAK;                                                                                   \
    int MPI_I##other(PARAMETERS, MPI_Request *) WEAK;                                                                  \
    int MPI_##name##_init(PARAMETERS, MPI_Info, MPI_Request *) WEAK;                                                   \
    static int call_##name(int form, MPI_Request *request)                                                             \
    {                                                                                                                  \
        if (request == NULL)                                                                                           \
            return form == 0 ? MPI_##name != NULL : form == 1 ? MPI_I##other != NULL : MPI_##name##_init != NULL;      \
        return form == 0   ? MPI_##name(ARGUMENTS)                                                                     \
               : form == 1 ? MPI_I##other(ARGUMENTS, request)                                                          \
                           : MPI_##name##_init(ARGUMENTS, MPI_INFO_NULL, request);                                     \
    }

#define TYPE MPI_Datatype
#define IN const void *
#define LIST const int[]
#define P(...) __VA_ARGS__

OPERATION(Barrier, barrier, P(MPI_Comm), P(a.comm))
OPERATION(Bcast, bcast, P(void *, int, TYPE, int, MPI_Comm), P(a.in, a.bytes, MPI_BYTE, a.root, a.comm))
OPERATION(Reduce, reduce, P(IN, void *, int, TYPE, MPI_Op, int, MPI_Comm),
          P(a.in, a.out, a.elements, MPI_DOUBLE, MPI_SUM, a.root, a.comm))
OPERATION(Allreduce, allreduce, P(IN, void *, int, TYPE, MPI_Op, MPI_Comm),
          P(a.in, a.out, a.elements, MPI_DOUBLE, MPI_SUM, a.comm))
OPERATION(Reduce_scatter, reduce_scatter, P(IN, void *, LIST, TYPE, MPI_Op, MPI_Comm),
          P(a.in, a.out, a.elements_each, MPI_DOUBLE, MPI_SUM, a.comm))
OPERATION(Reduce_scatter_block, reduce_scatter_block, P(IN, void *, int, TYPE, MPI_Op, MPI_Comm),
          P(a.in, a.out, a.elements, MPI_DOUBLE, MPI_SUM, a.comm))
OPERATION(Scan, scan, P(IN, void *, int, TYPE, MPI_Op, MPI_Comm),
          P(a.in, a.out, a.elements, MPI_DOUBLE, MPI_SUM, a.comm))
OPERATION(Exscan, exscan, P(IN, void *, int, TYPE, MPI_Op, MPI_Comm),
          P(a.in, a.out, a.elements, MPI_DOUBLE, MPI_SUM, a.comm))
OPERATION(Gather, gather, P(IN, int, TYPE, void *, int, TYPE, int, MPI_Comm),
          P(a.in, a.bytes, MPI_BYTE, a.out, a.bytes, MPI_BYTE, a.root, a.comm))
OPERATION(Gatherv, gatherv, P(IN, int, TYPE, void *, LIST, LIST, TYPE, int, MPI_Comm),
          P(a.in, a.bytes, MPI_BYTE, a.out, a.counts, a.at, MPI_BYTE, a.root, a.comm))
OPERATION(Scatter, scatter, P(IN, int, TYPE, void *, int, TYPE, int, MPI_Comm),
          P(a.in, a.bytes, MPI_BYTE, a.out, a.bytes, MPI_BYTE, a.root, a.comm))
OPERATION(Scatterv, scatterv, P(IN, LIST, LIST, TYPE, void *, int, TYPE, int, MPI_Comm),
          P(a.in, a.counts, a.at, MPI_BYTE, a.out, a.bytes, MPI_BYTE, a.root, a.comm))
OPERATION(Allgather, allgather, P(IN, int, TYPE, void *, int, TYPE, MPI_Comm),
          P(a.in, a.bytes, MPI_BYTE, a.out, a.bytes, MPI_BYTE, a.comm))
OPERATION(Allgatherv, allgatherv, P(IN, int, TYPE, void *, LIST, LIST, TYPE, MPI_Comm),
          P(a.in, a.bytes, MPI_BYTE, a.out, a.counts, a.at, MPI_BYTE, a.comm))
OPERATION(Alltoall, alltoall, P(IN, int, TYPE, void *, int, TYPE, MPI_Comm),
          P(a.in, a.bytes, MPI_BYTE, a.out, a.bytes, MPI_BYTE, a.comm))
OPERATION(Alltoallv, alltoallv, P(IN, LIST, LIST, TYPE, void *, LIST, LIST, TYPE, MPI_Comm),
          P(a.in, a.counts, a.at, MPI_BYTE, a.out, a.counts, a.at, MPI_BYTE, a.comm))
OPERATION(Alltoallw, alltoallw, P(IN, LIST, LIST, const TYPE[], void *, LIST, LIST, const TYPE[], MPI_Comm),
          P(a.in, a.counts, a.at, a.types, a.out, a.counts, a.at, a.types, a.comm))
OPERATION(Neighbor_allgather, neighbor_allgather, P(IN, int, TYPE, void *, int, TYPE, MPI_Comm),
          P(a.in, a.bytes, MPI_BYTE, a.out, a.bytes, MPI_BYTE, a.ring))
OPERATION(Neighbor_allgatherv, neighbor_allgatherv, P(IN, int, TYPE, void *, LIST, LIST, TYPE, MPI_Comm),
          P(a.in, a.bytes, MPI_BYTE, a.out, a.counts, a.at, MPI_BYTE, a.ring))
OPERATION(Neighbor_alltoall, neighbor_alltoall, P(IN, int, TYPE, void *, int, TYPE, MPI_Comm),
          P(a.in, a.bytes, MPI_BYTE, a.out, a.bytes, MPI_BYTE, a.ring))
OPERATION(Neighbor_alltoallv, neighbor_alltoallv, P(IN, LIST, LIST, TYPE, void *, LIST, LIST, TYPE, MPI_Comm),
          P(a.in, a.counts, a.at, MPI_BYTE, a.out, a.counts, a.at, MPI_BYTE, a.ring))
OPERATION(Neighbor_alltoallw, neighbor_alltoallw,
          P(IN, LIST, const MPI_Aint[], const TYPE[], void *, LIST, const MPI_Aint[], const TYPE[], MPI_Comm),
          P(a.in, a.counts, a.far, a.types, a.out, a.counts, a.far, a.types, a.ring))

#define ROW(name) {#name, call_##name}

static const struct {
    const char *name;
    int (*call)(int form, MPI_Request *request); /* with no request: whether the library has it */
} rows[] = {
    ROW(Barrier), ROW(Bcast), ROW(Reduce), ROW(Allreduce), ROW(Reduce_scatter), ROW(Reduce_scatter_block), ROW(Scan),
    ROW(Exscan), ROW(Gather), ROW(Gatherv), ROW(Scatter), ROW(Scatterv), ROW(Allgather), ROW(Allgatherv), ROW(Alltoall),
    ROW(Alltoallv), ROW(Alltoallw), ROW(Neighbor_allgather), ROW(Neighbor_allgatherv), ROW(Neighbor_alltoall),
    ROW(Neighbor_alltoallv), ROW(Neighbor_alltoallw),
};

static void measure(const char *name, int (*call)(int, MPI_Request *), int form, int rank, int size)
{
    static const char *const forms[] = {"", "/nonblocking", "/persistent"};
    const char *where = a.comm == WORLD ? "" : "/between";
    MPI_Request request = MPI_REQUEST_NULL;
    double batch[FEW_BATCHES], slowest = 0;
    int calls = 3;
    if (form == 2)
        call(form, &request);
    /* As many calls a batch as make about two milliseconds, computed from two first batches. */
    for (int b = -2; b < FEW_BATCHES; b++) {
        MPI_Barrier(WORLD);
        double begin = now();
        for (int i = 0; i < calls; i++) {
            if (form == 2)
                MPI_Start(&request);
            else
                call(form, &request);
            if (form != 0)
                MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        double mine = (now() - begin) / calls;
        MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, WORLD);
        if (b >= 0)
            batch[b] = slowest * 1e6;
        else
            calls = slowest > 1e-3 ? 2 : slowest < 5e-7 ? 4000 : (int)(2e-3 / slowest);
    }
    if (form == 2)
        MPI_Request_free(&request);
    char full[96];
    snprintf(full, sizeof full, "%s%s%s/%d/%d", name, where, forms[form], a.bytes, size);
    if (rank == 0)
        report(full, median(batch, FEW_BATCHES), "us");
}

static int is_frequent(const char *name)
{
    static const char *const names[] = {"Barrier", "Bcast", "Reduce", "Allreduce", "Allgather", "Alltoall"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return 1;
    return 0;
}

/* Scans and neighbours have no form between groups. */
static int is_between(const char *name)
{
    return strcmp(name, "Scan") != 0 && strcmp(name, "Exscan") != 0 && strncmp(name, "Neighbor", 8) != 0;
}

/* An intercommunicator of the first and the second half of the ranks, and what names rank 0 as root in it. */
static void use_groups(int rank, int size)
{
    MPI_Comm half;
    int first = rank < size / 2;
    MPI_Comm_split(WORLD, first, rank, &half);
    MPI_Intercomm_create(half, 0, WORLD, first ? size / 2 : 0, 0, &a.comm);
    MPI_Comm_free(&half);
    a.root = !first ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
}

int main(int argc, char **argv)
{
    static const int sizes[] = {8, 1 << 10, 1 << 16, 1 << 20};
    int rank, size, periodic = 1;
    int frequent = argc > 1 && strcmp(argv[1], "frequent") == 0;
    int between = argc > 1 && strcmp(argv[1], "between") == 0;
    int forms = frequent || (argc > 1 && strcmp(argv[1], "blocking") == 0) ? 1 : 3;
    start(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    if (size > MOST || (between && size % 2 != 0))
        MPI_Abort(WORLD, 1);
    a.comm = WORLD;
    if (between)
        use_groups(rank, size);
    MPI_Cart_create(WORLD, 1, &size, &periodic, 0, &a.ring);
    floor_begin();
    for (int s = 0; s < 4; s++) {
        int blocks = size < 2 ? 2 : size;
        a.bytes = sizes[s];
        a.elements = a.bytes / 8;
        a.in = malloc((size_t)blocks * (size_t)a.bytes);
        a.out = malloc((size_t)blocks * (size_t)a.bytes);
        if (a.in == NULL || a.out == NULL)
            MPI_Abort(WORLD, 1);
        /* Written, because pages that are only read are one page of zeros, which stays in the cache. */
        memset(a.in, 0, (size_t)blocks * (size_t)a.bytes);
        memset(a.out, 0, (size_t)blocks * (size_t)a.bytes);
        for (int i = 0; i < blocks; i++) {
            a.counts[i] = a.bytes;
            a.elements_each[i] = a.elements;
            a.far[i] = a.at[i] = i * a.bytes;
            a.types[i] = MPI_BYTE;
        }
        for (size_t row = 0; row < sizeof rows / sizeof *rows; row++)
            for (int form = 0; form < forms; form++) {
                /* A barrier has no size. */
                int repeated = row == 0 && s > 0;
                int wanted = !repeated && (!frequent || is_frequent(rows[row].name)) &&
                             (!between || is_between(rows[row].name));
                if (wanted && rows[row].call(form, NULL))
                    measure(rows[row].name, rows[row].call, form, rank, size);
            }
        free(a.in);
        free(a.out);
    }
    floor_end();
    MPI_Comm_free(&a.ring);
    if (between)
        MPI_Comm_free(&a.comm);
    MPI_Finalize();
    return 0;
}
