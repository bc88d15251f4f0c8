/* A long message whose data lies in memory of MPI_Alloc_mem is copied by the receiver from its own mapping, also where
 * the kernel copies nothing. Freed memory serves other blocks; what a child of fork writes stays in the child. */
#include "../threads.h"
#include "../tool/tool.h"
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT = 64 << 10, ROOM = 16 << 20 };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle copied, parts, shared, in_memory, all_memory;
static unsigned char *in;

static void set(const char *name, int value)
{
    MPI_T_cvar_handle handle;
    int index = -1, count;
    ok(MPI_T_cvar_get_index(name, &index));
    ok(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    ok(MPI_T_cvar_write(handle, &value));
    ok(MPI_T_cvar_handle_free(&handle));
}

static unsigned char *allocate(size_t bytes)
{
    unsigned char *memory = NULL;
    ok(MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &memory));
    return memory;
}

/* Rank `from` sends bytes of `data` to rank `to`, which copies them itself from shared memory, or does not. */
static void message(int from, int to, unsigned char *data, int bytes, int directly)
{
    int seed = bytes + from;
    if (rank == from) {
        fill(data, (size_t)bytes, seed);
        ok(MPI_Send(data, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD));
        memset(data, 0, (size_t)bytes);
    } else if (rank == to) {
        unsigned long long before[] = {read_pvar(session, copied), read_pvar(session, shared)};
        unsigned long long fragments = read_pvar(session, parts);
        MPI_Status status;
        memset(in, 0x5a, (size_t)bytes + 1);
        ok(MPI_Recv(in, bytes, MPI_BYTE, bytes % 2 ? MPI_ANY_SOURCE : from, 1, MPI_COMM_WORLD, &status));
        check_equal(status.MPI_SOURCE, from);
        check(filled(in, (size_t)bytes, seed) && in[bytes] == 0x5a);
        check_equal(read_pvar(session, shared) - before[1], directly);
        if (directly) {
            check_equal(read_pvar(session, copied) - before[0], bytes);
            check_equal(read_pvar(session, parts) - fragments, 0);
        }
    }
    ok(MPI_Barrier(MPI_COMM_WORLD));
}

static void lengths(void)
{
    static const int bytes[] = {LIMIT, LIMIT + 1, 1 << 20, 3000001, ROOM - 13};
    unsigned char *memory = allocate(ROOM), *mine = in;
    for (int i = 0; i < 5; i++) {
        message(0, 1, memory, bytes[i], 1);
        message(1, 0, memory + 13, bytes[i], 1);
    }
    message(0, 1, memory, LIMIT - 1, 0);
    /* A receiver that is far, as streaming stores have it, gets long messages only. */
    set("fabric_copy_stores", 2);
    message(0, 1, memory, 1 << 20, 0);
    message(1, 0, memory, LIMIT, 0);
    set("fabric_copy_stores", 1);
    /* The receiver's buffer is such memory too. */
    in = allocate(ROOM + 1);
    message(0, 1, memory, ROOM, 1);
    ok(MPI_Free_mem(in));
    in = mine;
    ok(MPI_Free_mem(memory));
}

/* Memory that was freed is used by other blocks, whose messages are right and whose amount counts. */
static void reuse(void)
{
    unsigned char *blocks[20];
    for (int round = 0; round < 3; round++) {
        unsigned long long before = read_pvar(session, in_memory), all = read_pvar(session, all_memory), sum = 0;
        for (int i = 0; i < 20; i++) {
            size_t bytes = (size_t)(LIMIT + i * 100001) >> round;
            blocks[i] = allocate(bytes);
            sum += bytes < LIMIT ? 0 : bytes;
            memset(blocks[i], i, bytes);
            if (i % 4 == 0)
                message(i / 4 % 2, 1 - i / 4 % 2, blocks[i], (int)bytes, bytes >= LIMIT);
        }
        check_equal(read_pvar(session, in_memory) - before, sum);
        check(read_pvar(session, all_memory) - all >= sum);
        for (int i = 0; i < 20; i++)
            ok(MPI_Free_mem(blocks[(i * 7 + round) % 20]));
        check_class(MPI_Free_mem(blocks[19]), MPI_ERR_BASE);
        check_equal(read_pvar(session, in_memory), before);
    }
}

static void alignment(void)
{
    MPI_Info info;
    char text[32];
    ok(MPI_Info_create(&info));
    for (size_t least = 64; least <= 4 << 20; least *= 4) {
        unsigned char *memory = NULL;
        snprintf(text, sizeof text, "%zu", least);
        ok(MPI_Info_set(info, "mpi_minimum_memory_alignment", text));
        ok(MPI_Alloc_mem(100000, info, &memory));
        check_equal((size_t)memory % least, 0);
        message(1, 0, memory, 100000, 1);
        ok(MPI_Free_mem(memory));
    }
    ok(MPI_Info_free(&info));
}

/* Gaps at the sender, or at the receiver: long runs are copied from shared memory, others are not; a short buffer. */
static void other_buffers(void)
{
    static const int runs[] = {2000, 100};
    unsigned char *memory = allocate(200000), *expected = malloc(100000);
    fill(expected, 100000, 5);
    for (int i = 0; i < 2; i++) {
        int run = runs[i], from;
        MPI_Datatype gaps;
        ok(MPI_Type_vector(100000 / run, run, 2 * run, MPI_BYTE, &gaps));
        ok(MPI_Type_commit(&gaps));
        for (from = 0; from < 200000; from++)
            memory[from] = from % (2 * run) < run ? expected[from / (2 * run) * run + from % (2 * run)] : 0;
        if (rank == 0) {
            ok(MPI_Send(memory, 1, gaps, 1, 2, MPI_COMM_WORLD));
            memcpy(memory, expected, 100000);
            ok(MPI_Send(memory, 100000, MPI_BYTE, 1, 2, MPI_COMM_WORLD));
            ok(MPI_Send(memory, 100000, MPI_BYTE, 1, 2, MPI_COMM_WORLD));
        } else if (rank == 1) {
            unsigned long long before = read_pvar(session, shared);
            int wrong_bytes = 0;
            memset(in, 0, 100001);
            ok(MPI_Recv(in, 100000, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            check(memcmp(in, expected, 100000) == 0);
            check_equal(read_pvar(session, shared) - before, 0);
            memset(in, 0x5a, 200001);
            ok(MPI_Recv(in, 1, gaps, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            for (int at = 0; at < 200000; at++) {
                int place = at % (2 * run);
                wrong_bytes += in[at] != (place < run ? expected[at / (2 * run) * run + place] : 0x5a);
            }
            check_equal(wrong_bytes, 0);
            check_equal(read_pvar(session, shared) - before, run >= 1024);
            memset(in, 0x5a, 100001);
            check_class(MPI_Recv(in, 70000, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
            check(memcmp(in, expected, 70000) == 0 && in[70000] == 0x5a);
        }
        ok(MPI_Type_free(&gaps));
        ok(MPI_Barrier(MPI_COMM_WORLD));
    }
    free(expected);
    ok(MPI_Free_mem(memory));
}

/* Started, persistent and partitioned messages, and collectives. */
static void other_operations(void)
{
    enum { COUNT = 8, EACH = 200000 };
    unsigned char *out = allocate(COUNT * EACH), *back = allocate(COUNT * EACH);
    int peer = 1 - rank;
    MPI_Request requests[2 * COUNT];
    for (int round = 0; round < 3 && rank < 2; round++) {
        for (int i = 0; i < COUNT; i++) {
            fill(out + i * EACH, EACH, rank + i + round);
            ok(MPI_Irecv(back + i * EACH, EACH, MPI_BYTE, peer, i, MPI_COMM_WORLD, &requests[i]));
            ok((round == 1 ? MPI_Issend : MPI_Isend)(out + i * EACH, EACH, MPI_BYTE, peer, i, MPI_COMM_WORLD,
                                                    &requests[COUNT + i]));
        }
        ok(MPI_Waitall(2 * COUNT, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < COUNT; i++)
            check(filled(back + i * EACH, EACH, peer + i + round));
    }
    if (rank < 2) {
        ok(MPI_Send_init(out, EACH, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[0]));
        ok(MPI_Recv_init(back, EACH, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[1]));
        ok(MPI_Psend_init(out + EACH, 4, EACH / 4, MPI_BYTE, peer, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]));
        ok(MPI_Precv_init(back + EACH, 4, EACH / 4, MPI_BYTE, peer, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[3]));
        for (int round = 0; round < 3; round++) {
            unsigned long long before = read_pvar(session, shared);
            fill(out, 2 * EACH, rank + round);
            ok(MPI_Startall(4, requests));
            for (int i = 0; i < 4; i++)
                ok(MPI_Pready(i, requests[2]));
            ok(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
            check(filled(back, 2 * EACH, peer + round));
            check(read_pvar(session, shared) > before);
        }
        for (int i = 0; i < 4; i++)
            ok(MPI_Request_free(&requests[i]));
    }
    for (int root = 0; root < size; root++) {
        if (rank == root)
            fill(out, COUNT * EACH, root);
        ok(MPI_Bcast(out, COUNT * EACH, MPI_BYTE, root, MPI_COMM_WORLD));
        check(filled(out, COUNT * EACH, root));
    }
    int each = COUNT * EACH / size;
    for (int i = 0; i < size; i++)
        fill(out + (size_t)i * (size_t)each, (size_t)each, 10 * rank + i);
    ok(MPI_Alltoall(out, each, MPI_BYTE, back, each, MPI_BYTE, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++)
        check(filled(back + (size_t)i * (size_t)each, (size_t)each, 10 * i + rank));
    ok(MPI_Free_mem(out));
    ok(MPI_Free_mem(back));
}

static MPI_Comm own[2];

/* Messages from memory that each thread allocates and frees. */
static void *exchange(void *number)
{
    int me = (int)(size_t)number, bytes = 300000 + 100000 * me;
    unsigned char *back = malloc((size_t)bytes);
    for (int round = 0; round < 40 && rank < 2; round++) {
        unsigned char *out = allocate((size_t)bytes);
        MPI_Request request;
        fill(out, (size_t)bytes, rank + 2 * me + round);
        ok(MPI_Isend(out, bytes, MPI_BYTE, 1 - rank, 0, own[me], &request));
        ok(MPI_Recv(back, bytes, MPI_BYTE, 1 - rank, 0, own[me], MPI_STATUS_IGNORE));
        ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check(filled(back, (size_t)bytes, 1 - rank + 2 * me + round));
        ok(MPI_Free_mem(out));
    }
    free(back);
    return NULL;
}

/* A child of fork has the memory; what it writes, there and behind it, stays in the child. */
static void child(void)
{
    unsigned char *memory = allocate(LIMIT);
    int status = -1;
    fill(memory, LIMIT, 3);
    fflush(NULL);
    pid_t made = fork();
    if (made == 0) {
        int right = filled(memory, LIMIT, 3);
        memset(memory, 0, LIMIT);
        _exit(right && memory[5] == 0 ? 7 : 1);
    }
    check(made > 0 && waitpid(made, &status, 0) == made);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    check(filled(memory, LIMIT, 3));
    message(0, 1, memory, LIMIT, 1);
    ok(MPI_Free_mem(memory));
}

int main(int argc, char **argv)
{
    begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    return_errors();
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    copied = watch(session, "p2p_bytes_copied", MPI_T_PVAR_CLASS_AGGREGATE, MPI_COMM_NULL);
    parts = watch(session, "p2p_bytes_in_fragments", MPI_T_PVAR_CLASS_AGGREGATE, MPI_COMM_NULL);
    shared = watch(session, "p2p_shared_received", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    in_memory = watch(session, "memory_alloc_mem_shared", MPI_T_PVAR_CLASS_LEVEL, MPI_COMM_NULL);
    all_memory = watch(session, "memory_alloc_mem", MPI_T_PVAR_CLASS_LEVEL, MPI_COMM_NULL);
    in = malloc(ROOM + 1);
    set("memory_share_alloc_mem", 0);
    unsigned char *memory = allocate(1 << 20);
    message(0, 1, memory, 1 << 20, 0);
    check_equal(read_pvar(session, in_memory), 0);
    set("memory_share_alloc_mem", 1);
    ok(MPI_Free_mem(memory));

    lengths();
    reuse();
    alignment();
    other_buffers();
    other_operations();
    run_threads(2, own, exchange);
    child();
    check_equal(read_pvar(session, in_memory), 0);
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    free(in);
    return finish();
}
