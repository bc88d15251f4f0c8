/* The variables of ring length, bytes in use and least room agree with what the program put into a ring whose
 * receiver read nothing; a sleeping process is woken as often as others wake it. */
#include "tool.h"

#include <unistd.h>

/* Bytes of a message, and the least and the most bytes that it takes in the ring; at the end of a ring some are
 * skipped. */
enum { BYTES = 1000, LEAST = 1000, MOST = 1200, FEW = 16, GO = 1, DATA = 2 };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle used, room, least_room, full;
static unsigned long long ring;
static volatile int *flag;
static char data[BYTES];

/* Releases the other process, or waits for it, without MPI. */
static void let(int step)
{
    __atomic_store_n(flag, step, __ATOMIC_SEQ_CST);
}

static void wait_for(int step)
{
    while (__atomic_load_n(flag, __ATOMIC_SEQ_CST) < step)
        usleep(100);
}

/* Bytes in use of the ring to this rank. */
static double bytes_used(int to)
{
    double parts[2] = {-1, -1};
    ok(MPI_T_pvar_read(session, used, parts));
    check(parts[to] >= 0 && parts[to] <= 1);
    return parts[to] * (double)ring;
}

static int sender(void)
{
    int messages = 1;
    unsigned long long failures = read_pvar(session, full);
    wait_for(1);
    double own = bytes_used(0);
    /* The first message also reads how far the receiver has reported its reads. */
    ok(MPI_Send(data, BYTES, MPI_CHAR, 1, DATA, MPI_COMM_WORLD));
    double before = bytes_used(1), first = before;
    for (; messages < FEW; messages++) {
        ok(MPI_Send(data, BYTES, MPI_CHAR, 1, DATA, MPI_COMM_WORLD));
        double more = bytes_used(1) - before;
        check(more >= LEAST && more <= 2 * MOST);
        before += more;
        check(read_pvar(session, room) <= ring - (unsigned long long)(before - more) + 1);
    }
    check(before - first <= (FEW - 1) * MOST + MOST);
    check(bytes_used(0) == own);
    /* Sends messages until there is no room. */
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int most = (int)(ring / LEAST) + 2;
    for (; messages < most && read_pvar(session, full) == failures; messages++) {
        ok(MPI_Isend(data, BYTES, MPI_CHAR, 1, DATA, MPI_COMM_WORLD, &requests[messages % 2]));
        if (read_pvar(session, full) == failures)
            ok(MPI_Wait(&requests[messages % 2], MPI_STATUS_IGNORE));
    }
    check(read_pvar(session, full) > failures);
    check(read_pvar(session, least_room) <= 2 * MOST && read_pvar(session, least_room) <= read_pvar(session, room));
    check(bytes_used(1) >= (double)ring - 2 * MOST);
    let(2);
    ok(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    ok(MPI_Send(&messages, 1, MPI_INT, 1, GO, MPI_COMM_WORLD));
    ok(MPI_Recv(NULL, 0, MPI_CHAR, 1, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    /* The receiver has read all, and reported all but less than a quarter. */
    ok(MPI_Send(data, BYTES, MPI_CHAR, 1, DATA, MPI_COMM_WORLD));
    check(bytes_used(1) <= (double)ring / 4 + MOST + MOST);
    check(read_pvar(session, least_room) <= 2 * MOST);
    return messages;
}

static int receiver(void)
{
    int messages = -1;
    let(1);
    wait_for(2);
    for (int i = 0; i < FEW; i++)
        ok(MPI_Recv(data, BYTES, MPI_CHAR, 0, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    ok(MPI_Recv(&messages, 1, MPI_INT, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = FEW; i < messages; i++)
        ok(MPI_Recv(data, BYTES, MPI_CHAR, 0, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    ok(MPI_Send(NULL, 0, MPI_CHAR, 0, GO, MPI_COMM_WORLD));
    ok(MPI_Recv(data, BYTES, MPI_CHAR, 0, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return messages;
}

/* Rank 1 waits until it has slept and was woken; the process that woke it, rank 0 or itself, has counted it. */
static void sleepers(void)
{
    MPI_T_pvar_handle sleeps = watch(session, "fabric_sleeps", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    MPI_T_pvar_handle woken = watch(session, "fabric_wakeups_received", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    MPI_T_pvar_handle wakes = watch(session, "fabric_wakeups_sent", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    MPI_T_pvar_handle poll_limit = watch(session, "fabric_wait_poll_limit", MPI_T_PVAR_CLASS_GENERIC, MPI_COMM_NULL);
    unsigned long long mine, all;
    ok(MPI_Barrier(MPI_COMM_WORLD));
    for (int over = 0; !over;) {
        if (rank == 0) {
            usleep(2000);
            ok(MPI_Send(data, 1, MPI_CHAR, 1, DATA, MPI_COMM_WORLD));
            ok(MPI_Recv(&over, 1, MPI_INT, 1, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        } else {
            ok(MPI_Recv(data, 1, MPI_CHAR, 0, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            over = read_pvar(session, woken) > 0;
            /* A wait that slept has lowered the poll limit. */
            check(!over || read_pvar(session, poll_limit) < 1 << 30);
            ok(MPI_Send(&over, 1, MPI_INT, 0, GO, MPI_COMM_WORLD));
        }
    }
    check(read_pvar(session, woken) <= read_pvar(session, sleeps));
    mine = read_pvar(session, wakes);
    ok(MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
    if (rank == 1)
        check(all > 0);
}

/* The distance of the other process is measured while longer messages are sent to it, and of no other. */
static void distances(void)
{
    static char blocks[2][8192];
    unsigned long long values[2] = {0, 0};
    MPI_T_pvar_handle distance;
    int count = -1;
    check_equal(size, 2);
    ok(MPI_T_pvar_handle_alloc(session, find_pvar("fabric_ring_distance", MPI_T_PVAR_CLASS_GENERIC), NULL, &distance,
                               &count));
    check_equal(count, size);
    ok(MPI_T_pvar_start(session, distance));
    for (int i = 0; i < 2000; i++)
        ok(MPI_Sendrecv(blocks[0], 8192, MPI_CHAR, 1 - rank, DATA, blocks[1], 8192, MPI_CHAR, 1 - rank, DATA,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    ok(MPI_T_pvar_read(session, distance, values));
    check_equal(values[rank], 0);
    /* Between two caches, with a context switch between the processes at most. */
    check(values[1 - rank] > 0 && values[1 - rank] < 1000000000);
    ok(MPI_T_pvar_handle_free(session, &distance));
}

int main(int argc, char **argv)
{
    const char *requested = getenv("FERRUM_FABRIC_RING_BYTES");
    int count = -1, messages, other;
    void *base;
    MPI_Win win;
    MPI_Aint bytes;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    ring = read_pvar(session, watch(session, "fabric_ring_size", MPI_T_PVAR_CLASS_SIZE, MPI_COMM_NULL));
    check(requested ? ring == strtoull(requested, NULL, 10) : ring >= 4096);
    MPI_T_pvar_handle job = watch(session, "fabric_job_memory", MPI_T_PVAR_CLASS_SIZE, MPI_COMM_NULL);
    check(read_pvar(session, job) > (unsigned long long)(size * size) * ring);
    ok(MPI_T_pvar_handle_alloc(session, find_pvar("fabric_ring_used", MPI_T_PVAR_CLASS_PERCENTAGE), NULL, &used,
                               &count));
    check_equal(count, size);
    ok(MPI_T_pvar_start(session, used));
    room = watch(session, "fabric_ring_room", MPI_T_PVAR_CLASS_LEVEL, MPI_COMM_NULL);
    full = watch(session, "fabric_queue_full", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    ok(MPI_Win_allocate_shared(rank == 0 ? sizeof(int) : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    ok(MPI_Win_shared_query(win, 0, &bytes, &other, (void *)&flag));
    least_room = watch(session, "fabric_ring_room", MPI_T_PVAR_CLASS_LOWWATERMARK, MPI_COMM_NULL);
    ok(MPI_Barrier(MPI_COMM_WORLD));
    messages = rank == 0 ? sender() : receiver();
    ok(MPI_Allreduce(MPI_IN_PLACE, &messages, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    check(messages > FEW);
    /* Without the handle, short messages rarely read the room again: the value stays. */
    ok(MPI_T_pvar_handle_free(session, &used));
    for (int i = 0; i < 1000; i++)
        ok(MPI_Sendrecv(data, 8, MPI_CHAR, 1 - rank, DATA, data + 8, 8, MPI_CHAR, 1 - rank, DATA, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
    sleepers();
    distances();
    ok(MPI_Win_free(&win));
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
