/* A waiting call polls, yields and sleeps as its control variables define. Rank 0 waits for a message that rank 1
 * delays, longer each time until the wait has reached the state under test; the result does not depend on how long
 * that takes. */
#include "tool.h"
#include <unistd.h>

static MPI_T_pvar_session session;
static MPI_T_pvar_handle yields, sleeps;

/* The counts of one wait. */
struct wait {
    unsigned long long yields, sleeps;
};

static void set(const char *name, unsigned value)
{
    MPI_T_cvar_handle handle;
    int index = -1, count;
    unsigned now = ~value;
    ok(MPI_T_cvar_get_index(name, &index));
    ok(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    ok(MPI_T_cvar_write(handle, &value));
    ok(MPI_T_cvar_read(handle, &now));
    check_equal(now, value);
    ok(MPI_T_cvar_handle_free(&handle));
}

static void policy(unsigned spins, unsigned some_yields, unsigned sleep)
{
    set("p2p_wait_spins", spins);
    set("p2p_wait_yields", some_yields);
    set("p2p_wait_sleep", sleep);
}

/* Rank 0 requests a message from rank 1 after a delay, and waits for it. */
static struct wait wait_for(int microseconds)
{
    struct wait before = {read_pvar(session, yields), read_pvar(session, sleeps)};
    ok(MPI_Send(&microseconds, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
    ok(MPI_Recv(&microseconds, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return (struct wait){read_pvar(session, yields) - before.yields, read_pvar(session, sleeps) - before.sleeps};
}

/* Rank 1 serves the requests until one is -1. */
static void answer(void)
{
    for (;;) {
        int microseconds = 0;
        ok(MPI_Recv(&microseconds, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (microseconds < 0)
            return;
        usleep((useconds_t)microseconds);
        ok(MPI_Send(&microseconds, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    }
}

static void sleeps_at_once(void)
{
    struct wait wait = {0, 0};
    policy(0, 0, 1);
    for (int microseconds = 1000; wait.sleeps == 0 && microseconds < 1 << 23; microseconds *= 2) {
        wait = wait_for(microseconds);
        check_equal(wait.yields, 0);
    }
    check(wait.sleeps > 0);
}

static void yields_as_often_as_told(void)
{
    struct wait wait = {0, 0};
    policy(0, 5, 1);
    for (int microseconds = 1000; wait.sleeps == 0 && microseconds < 1 << 23; microseconds *= 2) {
        wait = wait_for(microseconds);
        check(wait.yields <= 5);
    }
    check(wait.sleeps > 0);
    check_equal(wait.yields, 5);
}

static void never_sleeps(void)
{
    struct wait wait = {0, 0};
    policy(0, 0, 0);
    for (int microseconds = 1000; wait.yields < 50 && microseconds < 1 << 23; microseconds *= 2) {
        wait = wait_for(microseconds);
        check_equal(wait.sleeps, 0);
    }
    check(wait.yields >= 50);
}

/* A wait may be shorter after polling without success, but one in sixteen has all polls of the setting. */
static void polls_as_long_as_told(void)
{
    int awake = 0;
    policy(1 << 30, 0, 1);
    for (int i = 0; i < 16; i++)
        awake += wait_for(2000).sleeps == 0;
    check(awake > 0);
}

int main(int argc, char **argv)
{
    int over = -1;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    yields = watch(session, "fabric_yields", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    sleeps = watch(session, "fabric_sleeps", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    if (rank == 0) {
        sleeps_at_once();
        yields_as_often_as_told();
        never_sleeps();
        polls_as_long_as_told();
        ok(MPI_Send(&over, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
    } else {
        answer();
    }
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
