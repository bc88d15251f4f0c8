/* The events and variables of partitioned communication agree with the program's calls, and those of another
 * communicator raise none for this one. */
#include "events.h"

enum { PARTS = 4, LENGTH = 8 };

static int ready, granted, arrived, completed[2];
static MPI_Request expected;
static unsigned long long bytes;

static void on_ready(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                     void *data)
{
    check(long_element(instance, 0) == (size_t)expected);
    ready += int_element(instance, 2) - int_element(instance, 1) + 1;
}

static void on_granted(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                       void *data)
{
    check_equal(int_element(instance, 0), 0);
    check_equal(int_element(instance, 1), 6);
    granted++;
}

static void on_arrived(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                       void *data)
{
    check_equal(int_element(instance, 0), 0);
    check_equal(int_element(instance, 1), 6);
    check(long_element(instance, 2) + long_element(instance, 3) <= PARTS * LENGTH);
    bytes += long_element(instance, 3);
    arrived++;
}

static void count(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                  void *data)
{
    ++*(int *)data;
}

static void exchange(MPI_Comm comm, int rounds)
{
    char out[PARTS * LENGTH], in[PARTS * LENGTH];
    MPI_Request send, receive;
    memset(out, 5, sizeof out);
    ok(MPI_Psend_init(out, PARTS, LENGTH, MPI_CHAR, 0, 6, comm, MPI_INFO_NULL, &send));
    ok(MPI_Precv_init(in, PARTS, LENGTH, MPI_CHAR, 0, 6, comm, MPI_INFO_NULL, &receive));
    expected = send;
    for (int i = 0; i < rounds; i++) {
        memset(in, 0, sizeof in);
        ok(MPI_Start(&send));
        ok(MPI_Pready_range(0, 1, send));
        ok(MPI_Start(&receive));
        int flag = 1;
        ok(MPI_Parrived(receive, 3, &flag));
        check(!flag);
        ok(MPI_Pready_list(2, (int[]){3, 2}, send));
        ok(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        ok(MPI_Wait(&send, MPI_STATUS_IGNORE));
        check(memcmp(in, out, sizeof in) == 0);
    }
    ok(MPI_Request_free(&send));
    ok(MPI_Request_free(&receive));
}

int main(int argc, char **argv)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle sent, received, marked, early, waiting, most, timer, arrivals, failed;
    MPI_T_event_registration events[5];
    MPI_Comm other;
    double seconds = -1;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    sent = watch(session, "p2p_partitioned_sent", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    received = watch(session, "p2p_partitioned_received", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    marked = watch(session, "p2p_partitions_ready", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    early = watch(session, "p2p_partitions_early", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    waiting = watch(session, "p2p_partitioned_waiting", MPI_T_PVAR_CLASS_LEVEL, MPI_COMM_NULL);
    most = watch(session, "p2p_partitioned_waiting", MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_COMM_NULL);
    timer = watch(session, "p2p_partitioned_time_waiting", MPI_T_PVAR_CLASS_TIMER, MPI_COMM_NULL);
    arrivals = watch(session, "p2p_partitions_arrivals", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    failed = watch(session, "p2p_partitions_failed_tests", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    MPI_T_cb_safety level = MPI_T_CB_REQUIRE_MPI_RESTRICTED;
    events[0] = add_callback("p2p_partitions_ready", MPI_COMM_SELF, level, on_ready, NULL);
    events[1] = add_callback("p2p_partitions_granted", MPI_COMM_SELF, level, on_granted, NULL);
    events[2] = add_callback("p2p_partitions_arrived", MPI_COMM_SELF, level, on_arrived, NULL);
    events[3] = add_callback("p2p_send_completed", MPI_COMM_SELF, level, count, &completed[0]);
    events[4] = add_callback("p2p_receive_completed", MPI_COMM_SELF, level, count, &completed[1]);

    exchange(MPI_COMM_SELF, 3);
    check_equal(ready, 3 * PARTS);
    check_equal(granted, 3);
    check(arrived >= 3 && arrived <= 3 * PARTS);
    check_equal(bytes, 3 * PARTS * LENGTH);
    check_equal(completed[0], 3);
    check_equal(completed[1], 3);
    check_equal(read_pvar(session, sent), 3);
    check_equal(read_pvar(session, received), 3);
    check_equal(read_pvar(session, marked), 3 * PARTS);
    check_equal(read_pvar(session, early), 3 * 2);
    check_equal(read_pvar(session, arrivals), arrived);
    check_equal(read_pvar(session, failed), 3);
    check_equal(read_pvar(session, waiting), 0);
    check_equal(read_pvar(session, most), 1);
    ok(MPI_T_pvar_read(session, timer, &seconds));
    check(seconds > 0);

    /* Events are those of one communicator, variables those of the process. */
    ok(MPI_Comm_dup(MPI_COMM_SELF, &other));
    exchange(other, 1);
    ok(MPI_Comm_free(&other));
    check_equal(ready, 3 * PARTS);
    check_equal(granted, 3);
    check_equal(read_pvar(session, sent), 4);

    for (int i = 0; i < 5; i++)
        ok(MPI_T_event_handle_free(events[i], NULL, NULL));
    ok(MPI_T_pvar_session_free(&session));
    ok(MPI_T_finalize());
    return finish();
}
