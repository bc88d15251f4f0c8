/* The bytes that the buffers of posted receives have room for agree with the program's counts: receives that were
 * posted before the handle exists, and those posted, matched and cancelled later, blocking receives included. */
#include "bound.h"
#include <pthread.h>
#include <sched.h>

static const char name[] = "p2p_posted_bytes";
enum { LEVEL = MPI_T_PVAR_CLASS_LEVEL, MOST = MPI_T_PVAR_CLASS_HIGHWATERMARK, LONG = 300000 };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle now, most;
static MPI_Comm comm;
static char in[4][LONG], out[LONG];

static MPI_Request post(int place, int bytes, int tag)
{
    MPI_Request request;
    ok(MPI_Irecv(in[place], bytes, MPI_CHAR, rank, tag, comm, &request));
    return request;
}

static void deliver(MPI_Request *request, int bytes, int tag)
{
    MPI_Request sending;
    ok(MPI_Isend(out, bytes, MPI_CHAR, rank, tag, comm, &sending));
    ok(MPI_Wait(request, MPI_STATUS_IGNORE));
    ok(MPI_Wait(&sending, MPI_STATUS_IGNORE));
}

static void open_both(void)
{
    now = watch_object(session, name, LEVEL, &comm);
    most = watch_object(session, name, MOST, &comm);
}

static void close_both(void)
{
    ok(MPI_T_pvar_handle_free(session, &now));
    ok(MPI_T_pvar_handle_free(session, &most));
}

/* Sends the message when the main thread's blocking receive is posted. */
static void *release(void *unused)
{
    while (read_pvar(session, now) != 777)
        sched_yield();
    ok(MPI_Send(out, 5, MPI_CHAR, rank, 9, comm));
    return unused;
}

/* Each predefined communicator has its own value. */
static void check_predefined(void)
{
    MPI_Comm both[] = {MPI_COMM_WORLD, MPI_COMM_SELF};
    MPI_Request waiting[2];
    for (int i = 0; i < 2; i++)
        ok(MPI_Irecv(in[i], 10 + i, MPI_CHAR, MPI_ANY_SOURCE, 0, both[i], &waiting[i]));
    for (int i = 0; i < 2; i++) {
        MPI_T_pvar_handle handle = watch_object(session, name, LEVEL, &both[i]);
        check_equal(read_pvar(session, handle), 10 + i);
        ok(MPI_Cancel(&waiting[i]));
        ok(MPI_Wait(&waiting[i], MPI_STATUS_IGNORE));
        check_equal(read_pvar(session, handle), 0);
        ok(MPI_T_pvar_handle_free(session, &handle));
    }
}

int main(int argc, char **argv)
{
    MPI_Request requests[4];
    MPI_Datatype spread;
    MPI_Status status;
    pthread_t releasing;
    int cancelled = 0;
    begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    check_predefined();
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));

    /* Receives that were posted before the first handle count at once. A matched receive counts the room of its
     * buffer, also for a short message. */
    requests[0] = post(0, 100, 0);
    requests[1] = post(1, 2000, 1);
    open_both();
    check(read_pvar(session, now) == 2100 && read_pvar(session, most) == 2100);
    requests[2] = post(2, LONG, 2);
    check_equal(read_pvar(session, now), 2100 + LONG);
    deliver(&requests[0], 7, 0);
    check_equal(read_pvar(session, now), 2000 + LONG);
    deliver(&requests[2], LONG, 2);
    check_equal(read_pvar(session, now), 2000);
    requests[3] = post(3, 50, 3);
    ok(MPI_Cancel(&requests[1]));
    ok(MPI_Wait(&requests[1], &status));
    ok(MPI_Test_cancelled(&status, &cancelled));
    check(cancelled && read_pvar(session, now) == 50);
    check_equal(read_pvar(session, most), 2100 + LONG);
    ok(MPI_T_pvar_reset(session, most));
    check_equal(read_pvar(session, most), 50);

    /* A type of two pieces has room for its data; other communicators, and collectives, do not count. */
    ok(MPI_Type_dup(MPI_DOUBLE_INT, &spread));
    ok(MPI_Irecv(in[0], 3, spread, rank, 4, comm, &requests[0]));
    check_equal(read_pvar(session, now), 50 + 36);
    ok(MPI_Irecv(in[1], 10, MPI_CHAR, rank, 4, MPI_COMM_WORLD, &requests[1]));
    ok(MPI_Bcast(in[2], 100, MPI_CHAR, 0, comm));
    check_equal(read_pvar(session, now), 50 + 36);
    ok(MPI_Send(out, 3, spread, rank, 4, comm));
    ok(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    ok(MPI_Send(out, 10, MPI_CHAR, rank, 4, MPI_COMM_WORLD));
    ok(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    ok(MPI_Type_free(&spread));
    deliver(&requests[3], 50, 3);
    check_equal(read_pvar(session, now), 0);
    check_equal(read_pvar(session, most), 86);

    /* A blocking receive is posted too. */
    pthread_create(&releasing, NULL, release, NULL);
    ok(MPI_Recv(in[0], 777, MPI_CHAR, rank, 9, comm, MPI_STATUS_IGNORE));
    pthread_join(releasing, NULL);
    check(read_pvar(session, now) == 0 && read_pvar(session, most) == 777);

    /* Receives that were posted while no handle existed are counted when a new handle exists. */
    close_both();
    requests[0] = post(0, 1, 0);
    requests[1] = post(1, 10, 1);
    requests[2] = post(2, 100, 2);
    deliver(&requests[1], 10, 1);
    open_both();
    check(read_pvar(session, now) == 101 && read_pvar(session, most) == 101);
    deliver(&requests[0], 1, 0);
    deliver(&requests[2], 100, 2);
    check(read_pvar(session, now) == 0 && read_pvar(session, most) == 101);

    /* The handles end with the communicator. */
    ok(MPI_Comm_free(&comm));
    check_ended(session, now);
    check_ended(session, most);
    refuse_object(session, name, LEVEL, &comm);
    ok(MPI_T_pvar_session_free(&session));
    ok(MPI_T_finalize());
    return finish();
}
