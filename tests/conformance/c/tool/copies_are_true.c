/* The variables of data copies: the bytes that receivers copied, that senders copied and that came in fragments add
 * up to the bytes sent. With the argument `fragments` all of them came in fragments, and no transfer slot was used.
 * Queue lengths, bytes in queues, waits, yields and peers that have sent agree with the program's counts. */
#include "tool.h"
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

enum { LONG = 3000000, MIDDLE = 100000 };

static MPI_T_pvar_session session;
static char out[LONG], in[LONG];

static MPI_T_pvar_handle of_process(const char *name, int class)
{
    return watch(session, name, class, MPI_COMM_NULL);
}

/* The bytes of all processes together. */
static unsigned long long together(MPI_T_pvar_handle handle)
{
    unsigned long long own = read_pvar(session, handle), all = 0;
    ok(MPI_Allreduce(&own, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
    return all;
}

static void set_bytes(const char *name, unsigned long long bytes)
{
    MPI_T_cvar_handle handle;
    int index = -1, count;
    ok(MPI_T_cvar_get_index(name, &index));
    ok(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    ok(MPI_T_cvar_write(handle, &bytes));
    ok(MPI_T_cvar_handle_free(&handle));
}

static void set(const char *name, unsigned value)
{
    MPI_T_cvar_handle handle;
    int index = -1, count;
    ok(MPI_T_cvar_get_index(name, &index));
    ok(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    ok(MPI_T_cvar_write(handle, &value));
    ok(MPI_T_cvar_handle_free(&handle));
}

static void copies(int fragments)
{
    MPI_T_pvar_handle copied = of_process("p2p_bytes_copied", MPI_T_PVAR_CLASS_AGGREGATE);
    MPI_T_pvar_handle helped = of_process("p2p_bytes_helped", MPI_T_PVAR_CLASS_AGGREGATE);
    MPI_T_pvar_handle in_parts = of_process("p2p_bytes_in_fragments", MPI_T_PVAR_CLASS_AGGREGATE);
    int to = (rank + 1) % size, from = (rank + size - 1) % size, length = rank % 2 ? LONG : MIDDLE;
    unsigned long long sent = 0, all = 0;
    for (int i = 0; i < 5; i++) {
        ok(MPI_Sendrecv(out, length, MPI_CHAR, to, 1, in, LONG, MPI_CHAR, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        sent += (unsigned long long)length;
    }
    /* A receiver copies no more than its buffer has room for. */
    MPI_Request request;
    ok(MPI_Isend(out, LONG, MPI_CHAR, to, 2, MPI_COMM_WORLD, &request));
    check_class(MPI_Recv(in, MIDDLE, MPI_CHAR, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    sent += MIDDLE;
    ok(MPI_Allreduce(&sent, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
    unsigned long long parts = together(in_parts), whole = together(copied) + together(helped);
    check_equal(parts + whole, all);
    if (fragments)
        check_equal(whole, 0);
}

/* Types with gaps: with long pieces, and with shorter ones on one side where p2p_copy_runs_from permits it, data is
 * copied directly; otherwise all of it comes in fragments. */
static void gaps(int fragments)
{
    MPI_T_pvar_handle copied = of_process("p2p_bytes_copied", MPI_T_PVAR_CLASS_AGGREGATE);
    MPI_T_pvar_handle helped = of_process("p2p_bytes_helped", MPI_T_PVAR_CLASS_AGGREGATE);
    MPI_T_pvar_handle in_parts = of_process("p2p_bytes_in_fragments", MPI_T_PVAR_CLASS_AGGREGATE);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    enum { DATA = 600000 };
    MPI_Datatype types[3];
    const int pieces[] = {1, 20, 600};
    for (int i = 0; i < 3; i++) {
        ok(MPI_Type_vector(pieces[i], DATA / pieces[i], 2 * (DATA / pieces[i]), MPI_CHAR, &types[i]));
        ok(MPI_Type_commit(&types[i]));
    }
    /* Data in one piece would go in fragments between near cores. */
    set("p2p_pipelined_limit", 0);
    for (unsigned long long runs = 1; runs <= 1 << 20; runs <<= 20)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                set_bytes("p2p_copy_runs_from", runs);
                unsigned long long whole = together(copied) + together(helped), parts = together(in_parts);
                ok(MPI_Sendrecv(out, 1, types[i], to, 1, in, 1, types[j], from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                whole = together(copied) + together(helped) - whole;
                parts = together(in_parts) - parts;
                check_equal(whole + parts, (unsigned long long)DATA * (unsigned)size);
                /* A receiver with short pieces reads from one piece only. */
                int direct = !fragments && (runs == 1 ? i == 0 || j < 2 : i == 0 && j == 0);
                check_equal(direct ? parts : whole, 0);
            }
    for (int i = 0; i < 3; i++)
        ok(MPI_Type_free(&types[i]));
}

static MPI_T_pvar_handle slots_used;
static int seen, impossible, over;

/* Reads the share of transfer slots in use while messages are copied. */
static void *look(void *unused)
{
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
        double part = -1;
        impossible += MPI_T_pvar_read(session, slots_used, &part) != MPI_SUCCESS || part < 0 || part > 1;
        if (part > 0)
            __atomic_store_n(&seen, 1, __ATOMIC_RELEASE);
        sched_yield();
    }
    return unused;
}

/* While both processes copy a message a slot is in use, which one of them reads soon; before and after, none is. In
 * fragments, none is used. With more than two processes the cores may not suffice to copy together. */
static void slots(int fragments)
{
    pthread_t looking;
    double part = -1;
    int to = (rank + 1) % size, from = (rank + size - 1) % size, all = 0;
    slots_used = of_process("p2p_transfer_slots_used", MPI_T_PVAR_CLASS_PERCENTAGE);
    ok(MPI_T_pvar_read(session, slots_used, &part));
    check(part == 0);
    pthread_create(&looking, NULL, look, NULL);
    for (int i = 0; i < (fragments ? 20 : 20000) && !all; i++) {
        ok(MPI_Sendrecv(out, LONG, MPI_CHAR, to, 1, in, LONG, MPI_CHAR, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        int mine = __atomic_load_n(&seen, __ATOMIC_ACQUIRE);
        ok(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    pthread_join(looking, NULL);
    check_equal(all, !fragments);
    check_equal(impossible, 0);
    ok(MPI_T_pvar_read(session, slots_used, &part));
    check(part == 0);
}

/* A value after the library has polled: without a poll, no message arrives. */
static unsigned long long after_a_look(MPI_T_pvar_handle handle)
{
    int flag;
    ok(MPI_Iprobe(0, 99, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    return read_pvar(session, handle);
}

static void queues(void)
{
    MPI_T_pvar_handle posted = watch(session, "p2p_posted_length", MPI_T_PVAR_CLASS_LEVEL, MPI_COMM_SELF);
    MPI_T_pvar_handle most_posted = watch(session, "p2p_posted_length", MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_COMM_SELF);
    MPI_T_pvar_handle held = watch(session, "p2p_unexpected_bytes", MPI_T_PVAR_CLASS_LEVEL, MPI_COMM_SELF);
    MPI_T_pvar_handle most_held = watch(session, "p2p_unexpected_bytes", MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_COMM_SELF);
    MPI_Request receives[6];
    unsigned long long bytes = 0;
    for (int i = 0; i < 6; i++)
        ok(MPI_Irecv(in, 10, MPI_CHAR, 0, i, MPI_COMM_SELF, &receives[i]));
    check_equal(read_pvar(session, posted), 6);
    for (int i = 0; i < 6; i++) {
        ok(MPI_Send(out, i, MPI_CHAR, 0, i, MPI_COMM_SELF));
        check_equal(after_a_look(posted), 5 - i);
    }
    ok(MPI_Waitall(6, receives, MPI_STATUSES_IGNORE));
    check_equal(read_pvar(session, most_posted), 6);
    check_equal(read_pvar(session, held), 0);
    for (int i = 0; i < 6; i++) {
        ok(MPI_Send(out, 100 * i, MPI_CHAR, 0, 9, MPI_COMM_SELF));
        bytes += 100 * (unsigned long long)i;
        check_equal(after_a_look(held), bytes);
    }
    for (int i = 0; i < 6; i++) {
        ok(MPI_Recv(in, LONG, MPI_CHAR, 0, 9, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        bytes -= 100 * (unsigned long long)i;
        check_equal(read_pvar(session, held), bytes);
    }
    check_equal(read_pvar(session, most_held), 1500);
}

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Rank 0 waits ten times for a delayed message. A long wait either yielded and never slept, or slept and never
 * yielded. */
static void waits(int sleeping)
{
    MPI_T_pvar_handle number = of_process("p2p_waits", MPI_T_PVAR_CLASS_COUNTER);
    MPI_T_pvar_handle time = of_process("p2p_time_waited", MPI_T_PVAR_CLASS_TIMER);
    MPI_T_pvar_handle yields = of_process("fabric_yields", MPI_T_PVAR_CLASS_COUNTER);
    MPI_T_pvar_handle sleeps = of_process("fabric_sleeps", MPI_T_PVAR_CLASS_COUNTER);
    unsigned long long calls = 0, late = 0;
    double all = 0, reported = -1;
    set("p2p_wait_spins", 0);
    set("p2p_wait_yields", 0);
    set("p2p_wait_sleep", (unsigned)sleeping);
    for (int i = 0; i < 10; i++) {
        if (rank == 0) {
            double begun = seconds();
            ok(MPI_Send(NULL, 0, MPI_CHAR, 1, 3, MPI_COMM_WORLD));
            ok(MPI_Recv(NULL, 0, MPI_CHAR, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            double lasted = seconds() - begun;
            all += lasted;
            calls++;
            late += lasted > 0.005;
        } else if (rank == 1) {
            ok(MPI_Recv(NULL, 0, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            usleep(10000);
            ok(MPI_Send(NULL, 0, MPI_CHAR, 0, 4, MPI_COMM_WORLD));
        }
    }
    if (rank == 0) {
        unsigned long long waited = read_pvar(session, number);
        check(waited >= 1 && waited <= calls);
        ok(MPI_T_pvar_read(session, time, &reported));
        check(reported > 0 && reported <= all);
        check(late > 0);
        check_equal(read_pvar(session, sleeping ? yields : sleeps), 0);
        check(read_pvar(session, sleeping ? sleeps : yields) >= waited);
    }
    ok(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    tool_begin();
    return_errors();
    ok(MPI_T_pvar_session_create(&session));
    MPI_T_pvar_handle peers = of_process("fabric_connections", MPI_T_PVAR_CLASS_COUNTER);
    /* With all and with none of the data ahead of the answer, in fragments and without, as far as that can be set. */
    const unsigned long long ahead[] = {64 << 10, 0, 1 << 20};
    const unsigned pipelined[] = {16 << 20, 0};
    for (int i = 0; i < 6; i++) {
        set_bytes("p2p_ahead_limit", ahead[i % 3]);
        set("p2p_pipelined_limit", pipelined[i / 3]);
        copies(argc > 1);
    }
    set_bytes("p2p_ahead_limit", ahead[0]);
    set("p2p_pipelined_limit", pipelined[0]);
    gaps(argc > 1);
    if (size == 2)
        slots(argc > 1);
    queues();
    waits(0);
    waits(1);
    /* After this each rank has sent to every rank, itself included. */
    for (int i = 0; i < size; i++)
        ok(MPI_Sendrecv(out, 1, MPI_CHAR, (rank + i) % size, 5, in, 1, MPI_CHAR, (rank + size - i) % size, 5,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    check_equal(read_pvar(session, peers), size);
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
