/* Ranks some of which run in containers of the same host. Each argument of the program is the list of ranks that
 * share memory, such as 0,1: MPI_Comm_split_type has to give these groups. Then messages of all lengths between all
 * pairs, also after a pause in which the receiver waits, a barrier, a reduction, and a window. With the argument
 * "memory" each group has a window of shared memory too. With "limited" the first rank of each group may then make no
 * file that is as long as the job memory, behind which the memory of such a window is: an error of all of the group. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST = 1 << 20 };

static int rank, size;

static int fail(const char *what, int peer)
{
    fprintf(stderr, "rank %d: %s (rank %d)\n", rank, what, peer);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 1;
}

/* Sends bytes that depend on the sender and the length to a peer, and checks those that come from it. */
static void exchange(int peer, int length)
{
    static unsigned char out[MOST], in[MOST];
    MPI_Status status;
    int count;
    memset(out, rank + length % 101, length);
    memset(in, 255, length);
    MPI_Sendrecv(out, length, MPI_BYTE, peer, 5, in, length, MPI_BYTE, peer, 5, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    if (count != length)
        fail("a message has another length", peer);
    for (int i = 0; i < length; i++)
        if (in[i] != peer + length % 101)
            fail("a message has other bytes", peer);
}

/* The ranks of the group as text, such as 0,1. */
static void describe(MPI_Comm group, char *text, size_t room)
{
    int members, at = 0, ranks[64];
    MPI_Comm_size(group, &members);
    MPI_Allgather(&rank, 1, MPI_INT, ranks, 1, MPI_INT, group);
    for (int i = 0; i < members; i++)
        at += snprintf(text + at, room - at, i ? ",%d" : "%d", ranks[i]);
}

/* The group's first member writes into the memory of all others, which read it through MPI_Win_shared_query. Then all
 * add to one number, by operations and with a lock. */
static void share_window(MPI_Comm group, int elements)
{
    enum { TIMES = 200 };
    const int one = 1;
    int members, own, unit, before, *mine, *first;
    MPI_Aint bytes;
    MPI_Win window;
    MPI_Comm_rank(group, &own);
    MPI_Comm_size(group, &members);
    MPI_Win_allocate_shared(elements * sizeof(int), sizeof(int), MPI_INFO_NULL, group, &mine, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &first);
    MPI_Win_fence(0, window);
    for (int i = 0; i < elements; i++) {
        if (mine[i])
            fail("the memory of a new window is not zero", own);
        mine[i] = own + 1;
    }
    MPI_Win_fence(0, window);
    for (int i = 0; i < members * elements; i++)
        if (first[i] != i / elements + 1)
            fail("the memory of the group's window has another value", own);
    MPI_Win_fence(0, window);
    if (own == 0)
        first[0] = 77;
    MPI_Win_fence(0, window);
    if (first[0] != 77)
        fail("the memory of the group's window has another value", own);
    MPI_Win_fence(0, window);
    for (int i = 0; i < TIMES; i++)
        MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < TIMES; i++) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 0, MPI_SUM, window);
        MPI_Win_unlock(0, window);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        first[0]++;
        MPI_Win_unlock(0, window);
    }
    MPI_Barrier(group);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    if (first[0] != 77 + 3 * TIMES * members)
        fail("the sum in the group's window is wrong", own);
    MPI_Win_unlock(0, window);
    MPI_Win_free(&window);
}

static void exceed_limit(MPI_Comm group)
{
    struct rlimit limit, before;
    int own, class, *mine;
    MPI_Win window;
    MPI_Comm_rank(group, &own);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    /* Room for an object of the window alone, which is longer than all windows before. */
    limit.rlim_cur = 4 << 20;
    if (own == 0 && setrlimit(RLIMIT_FSIZE, &limit))
        fail("the limit of file sizes cannot be set", own);
    MPI_Comm_set_errhandler(group, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Win_allocate_shared(900000, 1, MPI_INFO_NULL, group, &mine, &window), &class);
    if (class != MPI_ERR_NO_MEM)
        fail("memory beyond the limit of file sizes is another error, or none", class);
    setrlimit(RLIMIT_FSIZE, &before);
}

/* Each rank puts its number into the memory of the next one. */
static void put_to_next(void)
{
    int *mine;
    MPI_Win window;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    if (*mine != (rank + size - 1) % size)
        fail("the memory of the window has another value", *mine);
    MPI_Win_free(&window);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {0, 1, 1000, 20000, 70000, MOST};
    char found[256], name[MPI_MAX_PROCESSOR_NAME];
    int sum, length, known = 0, shares = 0, limited = 0;
    MPI_Comm group;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(name, &length);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &group);
    describe(group, found, sizeof found);
    for (int i = 1; i < argc; i++) {
        known = known || !strcmp(argv[i], found);
        shares = shares || !strcmp(argv[i], "memory");
        limited = limited || !strcmp(argv[i], "limited");
    }
    if (!known) {
        fprintf(stderr, "rank %d shares memory with %s\n", rank, found);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int distance = 1; distance < size; distance++)
            if ((rank ^ distance) < size)
                exchange(rank ^ distance, lengths[i]);
    /* Longer than a process that waits takes to look whether the other one still runs. */
    if (rank == 0)
        sleep(3);
    for (int distance = 1; distance < size; distance++)
        if ((rank ^ distance) < size)
            exchange(rank ^ distance, 100000);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size * (size - 1) / 2)
        fail("the sum is wrong", 0);
    put_to_next();
    /* The memory of a window that was freed is zero when another one gets it. */
    for (int i = 0; shares && i < 20; i++)
        share_window(group, i % 3 ? 1 : 100000);
    if (limited)
        exceed_limit(group);
    MPI_Comm_free(&group);
    if (rank == 0)
        printf("%d ranks, sum %d\n", size, sum);
    MPI_Finalize();
    return 0;
}
