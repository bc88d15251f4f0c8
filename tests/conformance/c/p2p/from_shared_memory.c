/* A long message whose data lies in the memory of a window is copied by a receiver that has mapped it too, also where
 * the kernel copies nothing; a receiver that has not gets it in fragments. */
#include "../tool/tool.h"

enum { LIMIT = 64 << 10, ROOM = 3 << 20 };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle copied, parts;
static unsigned char *in;

static void set_bytes(const char *name, unsigned long long bytes)
{
    MPI_T_cvar_handle handle;
    int index = -1, count;
    ok(MPI_T_cvar_get_index(name, &index));
    ok(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    ok(MPI_T_cvar_write(handle, &bytes));
    ok(MPI_T_cvar_handle_free(&handle));
}

/* Rank `from` sends bytes of `data` to rank `to`, which copies them itself, or does not. */
static void message(int from, int to, unsigned char *data, int bytes, int directly)
{
    int seed = bytes + from;
    if (rank == from) {
        fill(data, (size_t)bytes, seed);
        ok(MPI_Send(data, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD));
        memset(data, 0, (size_t)bytes);
    } else if (rank == to) {
        unsigned long long before = read_pvar(session, copied), fragments = read_pvar(session, parts);
        memset(in, 0x5a, (size_t)bytes + 1);
        ok(MPI_Recv(in, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        check(filled(in, (size_t)bytes, seed) && in[bytes] == 0x5a);
        check_equal(read_pvar(session, copied) - before, directly ? bytes : 0);
        check_equal(read_pvar(session, parts) - fragments, directly ? 0 : bytes);
    }
    ok(MPI_Barrier(MPI_COMM_WORLD));
}

/* The memory of rank `from` in a window of `MPI_COMM_WORLD` or of a part of it. */
static void from_window(unsigned char *memory, int from, int to, int mapped)
{
    static const int lengths[] = {LIMIT, LIMIT + 1, 1 << 20, 3000001};
    for (int i = 0; i < 4; i++) {
        message(from, to, memory, lengths[i], mapped);
        message(from, to, memory + 13, lengths[i], mapped);
    }
    message(from, to, memory, LIMIT - 1, 0);
    set_bytes("p2p_copy_shared_from", 1 << 21);
    message(from, to, memory, 1 << 20, 0);
    set_bytes("p2p_copy_shared_from", LIMIT);
}

/* The receiver's buffer has gaps, or is too short. */
static void other_buffers(unsigned char *memory)
{
    MPI_Datatype gaps;
    ok(MPI_Type_vector(1000, 100, 200, MPI_BYTE, &gaps));
    ok(MPI_Type_commit(&gaps));
    if (rank == 0) {
        fill(memory, 100000, 5);
        ok(MPI_Send(memory, 100000, MPI_BYTE, 1, 2, MPI_COMM_WORLD));
        ok(MPI_Send(memory, 100000, MPI_BYTE, 1, 2, MPI_COMM_WORLD));
    } else if (rank == 1) {
        unsigned char *expected = malloc(100000);
        int wrong_bytes = 0;
        fill(expected, 100000, 5);
        memset(in, 0x5a, 200001);
        ok(MPI_Recv(in, 1, gaps, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < 200000; i++)
            wrong_bytes += i < 199900 && in[i] != (i % 200 < 100 ? expected[i / 200 * 100 + i % 200] : 0x5a);
        check_equal(wrong_bytes, 0);
        memset(in, 0x5a, 100001);
        check_class(MPI_Recv(in, 70000, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
        check(memcmp(in, expected, 70000) == 0 && in[70000] == 0x5a);
        free(expected);
    }
    ok(MPI_Type_free(&gaps));
    ok(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    unsigned char *memory = NULL, *theirs = NULL, *plain = malloc(ROOM);
    MPI_Win win;
    MPI_Comm half;
    MPI_Aint bytes;
    int unit;
    begin(&argc, &argv);
    return_errors();
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    copied = watch(session, "p2p_bytes_copied", MPI_T_PVAR_CLASS_AGGREGATE, MPI_COMM_NULL);
    parts = watch(session, "p2p_bytes_in_fragments", MPI_T_PVAR_CLASS_AGGREGATE, MPI_COMM_NULL);
    in = malloc(ROOM);
    message(0, 1, plain, 1 << 20, 0);

    ok(MPI_Win_allocate_shared(ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    from_window(memory, 0, 1, 1);
    from_window(memory, 1, 0, 1);
    other_buffers(memory);
    /* The memory of another process, and a buffer in the window. */
    ok(MPI_Win_shared_query(win, 1, &bytes, &unit, &theirs));
    message(0, 1, theirs, 1 << 20, 1);
    unsigned char *own = in;
    in = rank == 1 ? memory : in;
    message(0, 1, memory, 1 << 20, 1);
    in = own;
    ok(MPI_Win_free(&win));

    ok(MPI_Win_allocate(ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    from_window(memory, 0, 1, 1);
    ok(MPI_Win_free(&win));
    message(0, 1, plain, 1 << 20, 0);

    /* Windows of two communicators, whose processes have not mapped those of the other. */
    if (size == 4) {
        ok(MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &half));
        ok(MPI_Win_allocate_shared(ROOM, 1, MPI_INFO_NULL, half, &memory, &win));
        from_window(memory, 0, 1, 1);
        from_window(memory, 2, 3, 1);
        from_window(memory, 0, 2, 0);
        from_window(memory, 3, 1, 0);
        ok(MPI_Win_free(&win));
        ok(MPI_Comm_free(&half));
    }
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    free(plain);
    free(in);
    return finish();
}
