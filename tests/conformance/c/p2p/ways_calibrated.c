/* The limit between fragments and copies by the kernel is measured by one process, at a blocking send of 64 KiB or
 * more, and used by all; a number in p2p_pipelined_limit takes its place. So is the limit of copies by both.
 * With the argument `off` the kernel is not to copy, and nothing is measured. */
#include "../tool/tool.h"

enum { BUILT_IN = 16 << 20, SMALLEST = 64 << 10, LARGEST = 64 << 20, ROOM = LARGEST + 1 };

static MPI_T_pvar_session session;

/* A calibration takes less than 2 ms on a core of its own; other processes may take the core away for some time. */
static const unsigned long long longest_ns = 500 * 1000000ull;

static unsigned long long value(const char *name)
{
    MPI_T_pvar_handle handle = watch(session, name, MPI_T_PVAR_CLASS_GENERIC, MPI_COMM_NULL);
    unsigned long long is = read_pvar(session, handle);
    ok(MPI_T_pvar_handle_free(session, &handle));
    return is;
}

static void set(const char *name, int bytes)
{
    MPI_T_cvar_handle handle;
    int index = -1, count;
    ok(MPI_T_cvar_get_index(name, &index));
    ok(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    ok(MPI_T_cvar_write(handle, &bytes));
    ok(MPI_T_cvar_handle_free(&handle));
}

/* Each rank sends so many bytes to the next one. */
static void pass(char *out, char *in, int bytes)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    if (rank == 0) {
        ok(MPI_Send(out, bytes, MPI_CHAR, to, 1, MPI_COMM_WORLD));
        ok(MPI_Recv(in, bytes, MPI_CHAR, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else {
        ok(MPI_Recv(in, bytes, MPI_CHAR, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        ok(MPI_Send(out, bytes, MPI_CHAR, to, 1, MPI_COMM_WORLD));
    }
}

static int same_everywhere(unsigned long long number)
{
    unsigned long long least, most;
    ok(MPI_Allreduce(&number, &least, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, MPI_COMM_WORLD));
    ok(MPI_Allreduce(&number, &most, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, MPI_COMM_WORLD));
    return least == most;
}

/* The bytes that this process receives in fragments, of a message of so many from the rank before it. */
static unsigned long long in_fragments(char *out, char *in, int bytes)
{
    MPI_T_pvar_handle parts = watch(session, "p2p_bytes_in_fragments", MPI_T_PVAR_CLASS_AGGREGATE, MPI_COMM_NULL);
    pass(out, in, bytes);
    unsigned long long is = read_pvar(session, parts);
    ok(MPI_T_pvar_handle_free(session, &parts));
    return is;
}

/* Receivers measure whether both processes copy messages of a class of lengths; a number takes the place of that. */
static void copied_by_both(char *out, char *in)
{
    check_equal(value("p2p_calibration_both_from"), 32 << 10);
    check_equal(value("p2p_calibration_both_classes"), 0);
    set("p2p_pipelined_limit", 0);
    for (int i = 0; i < 40; i++)
        pass(out, in, 100000);
    unsigned long long from = value("p2p_calibration_both_from");
    check(from == 32 << 10 || from == 128 << 10);
    /* Busy processes may take longer than a calibration may. */
    unsigned long long classes = value("p2p_calibration_both_classes");
    check(classes <= 1 && (from == 32 << 10 || classes == 1));
    for (int limit = 100000; limit < 100002; limit++) {
        set("p2p_both_copy_from", limit);
        pass(out, in, 100000);
        check_equal(value("p2p_calibration_both_from"), (unsigned long long)limit);
    }
    set("p2p_both_copy_from", -1);
    pass(out, in, 100000);
    from = value("p2p_calibration_both_from");
    check(from == 32 << 10 || from == 128 << 10);
    set("p2p_pipelined_limit", -1);
}

int main(int argc, char **argv)
{
    static const char *const times[] = {"p2p_calibration_kernel_call", "p2p_calibration_kernel_copy",
                                        "p2p_calibration_cached_copy", "p2p_calibration_streaming_copy",
                                        "p2p_calibration_time"};
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    char *out = calloc(ROOM, 1), *in = calloc(ROOM, 1);

    pass(out, in, 20000);
    pass(out, in, SMALLEST - 1);
    for (int i = 0; i < 5; i++)
        check_equal(value(times[i]), 0);
    check_equal(value("p2p_calibration_limit_near"), BUILT_IN);
    check_equal(value("p2p_calibration_limit_far"), BUILT_IN);

    int found = 0;
    for (int i = 0; i < 1000 && !found; i++) {
        pass(out, in, SMALLEST);
        int mine = value("p2p_calibration_time") > 0;
        ok(MPI_Allreduce(&mine, &found, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
        if (argc > 1)
            break;
    }
    check_equal(found, argc == 1);
    unsigned long long near = value("p2p_calibration_limit_near"), far = value("p2p_calibration_limit_far");
    for (int i = 0; i < 5; i++) {
        check(same_everywhere(value(times[i])));
        if (i > 0)
            check_equal(value(times[i]) > 0, argc == 1);
    }
    check(value("p2p_calibration_time") < longest_ns);
    check(same_everywhere(near) && same_everywhere(far));
    check(near >= SMALLEST && near <= LARGEST && far >= SMALLEST && far <= LARGEST);

    if (argc == 1) {
        int least = (int)(near < far ? near : far), most = (int)(near < far ? far : near);
        check(in_fragments(out, in, least) >= (unsigned long long)least);
        /* The first 64 KiB go with the offer only if the rest goes in fragments. */
        check_equal(in_fragments(out, in, most + 1), 0);
        set("p2p_pipelined_limit", 0);
        check_equal(in_fragments(out, in, SMALLEST + 1), 0);
        check_equal(value("p2p_calibration_limit_near"), 0);
        set("p2p_pipelined_limit", 2147483647);
        check(in_fragments(out, in, most + 1) >= (unsigned long long)most + 1);
        check_equal(value("p2p_calibration_limit_far"), 2147483647);
        set("p2p_pipelined_limit", -1);
        check(in_fragments(out, in, least) >= (unsigned long long)least);
        check_equal(value("p2p_calibration_limit_near"), near);
        check_equal(value("p2p_calibration_limit_far"), far);
        copied_by_both(out, in);
    } else {
        check_equal(near, BUILT_IN);
        check_equal(far, BUILT_IN);
    }
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    free(out);
    free(in);
    return finish();
}
