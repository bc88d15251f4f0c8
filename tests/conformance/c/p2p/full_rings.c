/* Messages of lengths around those where the library changes its way arrive whole and in order when the senders
 * start many of them while no process receives, so that every queue on the way is full: between all processes at
 * once, and from all to one. With and without gaps on each side. The argument is the number of MiB that a process
 * sends at once. */
#include "check.h"

#include <unistd.h>

enum { MOST = 1 << 20, MESSAGES = 200, BLOCK = 61, DISTANCE = 67 };

static const int lengths[] = {3967, 3968, 3969, 4095, 4096, 4097, 65535, 65536, 65537, MOST - 1, MOST, MOST + 1, 33, 0};

/* Number of processes that have started their sends, in memory that all share. */
static volatile int *started;
static unsigned char *out, *expected, *in[MESSAGES];
static MPI_Request requests[MESSAGES];
static int mebibytes;

/* Message `k` has the bytes from `k` on of what is the sender's own sequence of bytes. */
static void sequence(unsigned char *bytes, int sender)
{
    for (int i = 0; i < MOST + 1 + MESSAGES; i++)
        bytes[i] = pattern((size_t)i, sender);
}

/* Messages of a length. */
static int number(int length)
{
    int fitting = (mebibytes << 20) / (length + 1);
    return fitting < 4 ? 4 : fitting > MESSAGES ? MESSAGES : fitting;
}

/* Bytes of memory in which `length` bytes lie with gaps. */
static size_t extent(int length)
{
    return (size_t)length / BLOCK * DISTANCE + DISTANCE;
}

/* The type of `length` bytes in blocks with gaps. */
static MPI_Datatype gaps(int length)
{
    MPI_Datatype whole, all;
    int lengths_of[2] = {1, length % BLOCK};
    MPI_Aint places[2] = {0, (MPI_Aint)(length / BLOCK) * DISTANCE};
    MPI_Datatype types[2];
    ok(MPI_Type_vector(length / BLOCK, BLOCK, DISTANCE, MPI_BYTE, &whole));
    types[0] = whole;
    types[1] = MPI_BYTE;
    ok(MPI_Type_create_struct(2, lengths_of, places, types, &all));
    ok(MPI_Type_commit(&all));
    ok(MPI_Type_free(&whole));
    return all;
}

/* Whether memory with gaps has these bytes, and its gaps are untouched. */
static int has_with_gaps(const unsigned char *memory, const unsigned char *bytes, int length)
{
    size_t at = 0;
    for (int done = 0; done < length; done += BLOCK, at += DISTANCE) {
        int part = length - done < BLOCK ? length - done : BLOCK;
        if (memcmp(memory + at, bytes + done, (size_t)part) != 0)
            return 0;
        for (int i = part; i < DISTANCE; i++)
            if (memory[at + (size_t)i] != 0x5a)
                return 0;
    }
    return 1;
}

static int check_message(const unsigned char *memory, int k, int length, int with_gaps)
{
    return with_gaps ? has_with_gaps(memory, expected + k, length) : memcmp(memory, expected + k, (size_t)length) == 0;
}

/* Waits until all processes have started their sends, outside of MPI. */
static void all_have_started(int step)
{
    __atomic_add_fetch(started, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(started, __ATOMIC_SEQ_CST) < step * size)
        usleep(100);
}

/* Starts `count` sends of a length to a process. */
static void start_sends(int dest, int length, int count, MPI_Datatype type, MPI_Request *sends)
{
    static unsigned char *spread[MESSAGES];
    for (int k = 0; k < count; k++) {
        if (type == MPI_BYTE) {
            ok(MPI_Isend(out + k, length, MPI_BYTE, dest, k, MPI_COMM_WORLD, &sends[k]));
            continue;
        }
        free(spread[k]);
        spread[k] = malloc(extent(length));
        for (int done = 0, block = 0; done < length; done += BLOCK, block++)
            memcpy(spread[k] + (size_t)block * DISTANCE, out + k + done,
                   (size_t)(length - done < BLOCK ? length - done : BLOCK));
        ok(MPI_Isend(spread[k], 1, type, dest, k, MPI_COMM_WORLD, &sends[k]));
    }
}

/* Receives `count` messages of a length from a process: in the order of their sends, or the last one first, in which
 * case all others are unexpected. */
static void receive_all(int source, int length, int count, MPI_Datatype type, int reverse)
{
    MPI_Status status;
    int received = -1, with_gaps = type != MPI_BYTE;
    sequence(expected, source);
    for (int i = 0; i < count; i++) {
        int k = reverse ? count - 1 - i : i;
        memset(in[0], 0x5a, extent(length));
        if (i % 3 == 1)
            ok(MPI_Probe(source, k, MPI_COMM_WORLD, &status));
        ok(MPI_Recv(in[0], with_gaps ? 1 : length, type, source, k, MPI_COMM_WORLD, &status));
        ok(MPI_Get_count(&status, MPI_BYTE, &received));
        check_equal(received, length);
        check(check_message(in[0], k, length, with_gaps));
    }
}

/* All processes send to the next one and receive from the one before: with two processes both directions of one
 * pair. */
static void around(int length, int form, int step)
{
    int count = number(length), next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Datatype type = gaps(length);
    start_sends(next, length, count, form & 1 ? type : MPI_BYTE, requests);
    all_have_started(step);
    receive_all(before, length, count, form & 2 ? type : MPI_BYTE, form & 4);
    ok(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    ok(MPI_Type_free(&type));
    ok(MPI_Barrier(MPI_COMM_WORLD));
}

/* All other processes send to process 0, which then posts all receives of one process after the other. */
static void to_one(int length, int form, int step)
{
    int count = number(length) / (size > 2 ? 2 : 1);
    MPI_Datatype type = gaps(length), here = form & 2 ? type : MPI_BYTE;
    if (rank != 0)
        start_sends(0, length, count, form & 1 ? type : MPI_BYTE, requests);
    all_have_started(step);
    if (rank != 0)
        ok(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    for (int source = size - 1; source > 0 && rank == 0; source--) {
        sequence(expected, source);
        for (int k = 0; k < count; k++) {
            in[k] = realloc(in[k], extent(k == 0 ? MOST + 1 : length));
            memset(in[k], 0x5a, extent(length));
            ok(MPI_Irecv(in[k], here == MPI_BYTE ? length : 1, here, source, k, MPI_COMM_WORLD, &requests[k]));
        }
        ok(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
        for (int k = 0; k < count; k++)
            check(check_message(in[k], k, length, here != MPI_BYTE));
    }
    ok(MPI_Type_free(&type));
    ok(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    MPI_Win win;
    MPI_Aint bytes;
    void *base;
    int unit, step = 0;
    begin(&argc, &argv);
    mebibytes = argc > 1 ? atoi(argv[1]) : 4;
    ok(MPI_Win_allocate_shared(rank == 0 ? sizeof(int) : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    ok(MPI_Win_shared_query(win, 0, &bytes, &unit, (void *)&started));
    if (rank == 0)
        *started = 0;
    ok(MPI_Barrier(MPI_COMM_WORLD));
    out = malloc(MOST + 1 + MESSAGES);
    expected = malloc(MOST + 1 + MESSAGES);
    in[0] = malloc(extent(MOST + 1));
    sequence(out, rank);
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int form = 0; form < 4; form++) {
            around(lengths[i], form | ((i + (unsigned)form) % 2 ? 4 : 0), ++step);
            if (size > 1)
                to_one(lengths[i], form, ++step);
        }
    ok(MPI_Win_free(&win));
    return finish();
}
