/* The engine's events agree with the program's calls: unexpected messages, posted receives, matches, completions and
 * transfers of long messages, each on its own communicator only. A callback without restrictions gets the same
 * events later, and dropped events are counted exactly. */
#include "events.h"

enum { MANY = 50, POSTED = 10, LONG = 1 << 20 };

static struct seen {
    int calls, wrong_safety;
    unsigned long long bytes;
    int tags[200];
} unexpected, posted, matched, received, moving, moved, sent, later, elsewhere;
static int waits_begun, waits_over, dropped, source_seen = -1;
static MPI_T_event_registration slow;
static MPI_Count last_time;

static void record(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                   void *data)
{
    struct seen *seen = data;
    MPI_Count time = -1;
    seen->wrong_safety += safety != (seen == &later ? MPI_T_CB_REQUIRE_NONE : MPI_T_CB_REQUIRE_MPI_RESTRICTED);
    if (seen->calls < 200)
        seen->tags[seen->calls] = int_element(instance, 1);
    if (seen != &posted)
        seen->bytes += long_element(instance, 2);
    ok(MPI_T_event_get_source(instance, &source_seen));
    ok(MPI_T_event_get_timestamp(instance, &time));
    check(time >= last_time);
    last_time = time;
    seen->calls++;
}

static void record_sent(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                        void *data)
{
    sent.bytes = long_element(instance, 0);
    sent.calls++;
}

static void record_wait(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                        void *data)
{
    ++*(int *)data;
}

static void record_dropped(MPI_Count count, MPI_T_event_registration registration, int source, MPI_T_cb_safety safety,
                           void *data)
{
    check(count > 0 && data == &later && safety == MPI_T_CB_REQUIRE_NONE);
    check(registration == slow && source == source_seen && source_seen >= 0);
    dropped += (int)count;
}

static void sender(MPI_Comm comm)
{
    static char large[LONG];
    MPI_Request request;
    int go;
    for (int i = 0; i < MANY; i++)
        ok(MPI_Send(&i, 1, MPI_INT, 1, i, comm));
    ok(MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD));
    ok(MPI_Recv(&go, 0, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < POSTED; i++)
        ok(MPI_Send(&i, 1, MPI_INT, 1, 100 + i, comm));
    add_callback("p2p_send_completed", comm, MPI_T_CB_REQUIRE_MPI_RESTRICTED, record_sent, NULL);
    ok(MPI_Isend(large, LONG, MPI_CHAR, 1, 200, comm, &request));
    MPI_Request before = request;
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check(sent.calls == 1 && sent.bytes == (size_t)before);
}

static void burst(MPI_Comm comm)
{
    int go;
    ok(MPI_Recv(&go, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < MANY; i++)
        ok(MPI_Send(&i, 1, MPI_INT, 1, i, comm));
    ok(MPI_Send(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD));
}

static void receiver(MPI_Comm comm)
{
    static char large[LONG];
    MPI_Request requests[POSTED];
    int value[POSTED], none;
    ok(MPI_Recv(&none, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    check(unexpected.calls == MANY && unexpected.bytes == MANY * sizeof(int) && matched.calls == 0);
    for (int i = 0; i < MANY; i++) {
        ok(MPI_Recv(&none, 1, MPI_INT, 0, i, comm, MPI_STATUS_IGNORE));
        check(unexpected.tags[i] == i && matched.tags[i] == i);
    }
    check(matched.calls == MANY && posted.calls == 0 && received.calls == 0);
    for (int i = 0; i < POSTED; i++)
        ok(MPI_Irecv(&value[i], 1, MPI_INT, 0, i % 2 ? 100 + i : MPI_ANY_TAG, comm, &requests[i]));
    check_equal(posted.calls, POSTED);
    for (int i = 0; i < POSTED; i++)
        check_equal(posted.tags[i], i % 2 ? 100 + i : MPI_ANY_TAG);
    ok(MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD));
    ok(MPI_Waitall(POSTED, requests, MPI_STATUSES_IGNORE));
    check_equal(matched.calls, MANY + POSTED);
    check_equal(received.calls, POSTED);
    /* The long message may already have been offered. */
    check(unexpected.calls == MANY || (unexpected.calls == MANY + 1 && unexpected.tags[MANY] == 200));
    check_equal(moving.calls, 0);
    ok(MPI_Recv(large, LONG, MPI_CHAR, 0, 200, comm, MPI_STATUS_IGNORE));
    check(moving.calls == 1 && moved.calls == 1 && moving.bytes == LONG && moved.bytes == LONG && moved.tags[0] == 200);
    check_equal(received.calls, POSTED + 1);
    check_equal(elsewhere.calls, 0);
}

/* Events that wait for the end of the call, five at most. */
static void bounded(MPI_Comm comm)
{
    MPI_Info few;
    int value;
    ok(MPI_Info_create(&few));
    ok(MPI_Info_set(few, "ferrum_waiting_events", "5"));
    ok(MPI_T_event_handle_alloc(find_event("p2p_unexpected"), &comm, few, &slow));
    ok(MPI_Info_free(&few));
    ok(MPI_T_event_register_callback(slow, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &later, record));
    ok(MPI_T_event_set_dropped_handler(slow, record_dropped));
    ok(MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD));
    ok(MPI_Recv(&value, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    check_equal(later.calls + dropped, MANY);
    check(later.calls >= 5 && later.tags[0] == 0);
    for (int i = 0; i < MANY; i++)
        ok(MPI_Recv(&value, 1, MPI_INT, 0, i, comm, MPI_STATUS_IGNORE));
    ok(MPI_T_event_handle_free(slow, NULL, NULL));
}

int main(int argc, char **argv)
{
    MPI_Comm comm, other;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    MPI_T_cb_safety level = MPI_T_CB_REQUIRE_MPI_RESTRICTED;
    add_callback("p2p_wait_begin", MPI_COMM_NULL, level, record_wait, &waits_begun);
    add_callback("p2p_wait_end", MPI_COMM_NULL, level, record_wait, &waits_over);
    if (rank == 1) {
        add_callback("p2p_unexpected", comm, level, record, &unexpected);
        add_callback("p2p_posted", comm, level, record, &posted);
        add_callback("p2p_matched", comm, level, record, &matched);
        add_callback("p2p_receive_completed", comm, level, record, &received);
        add_callback("p2p_rendezvous_begin", comm, level, record, &moving);
        add_callback("p2p_rendezvous_end", comm, level, record, &moved);
        add_callback("p2p_matched", other, level, record, &elsewhere);
    }
    ok(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        sender(comm), burst(other);
    if (rank == 1)
        receiver(comm), bounded(other);
    ok(MPI_Barrier(MPI_COMM_WORLD));
    check_equal(unexpected.wrong_safety + matched.wrong_safety + later.wrong_safety, 0);
    check_equal(waits_begun, waits_over);
    ok(MPI_Comm_free(&comm));
    ok(MPI_Comm_free(&other));
    ok(MPI_T_finalize());
    return finish();
}
