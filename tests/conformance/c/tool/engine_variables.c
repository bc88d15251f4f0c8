/* The engine's variables (searches, unexpected messages and the time they wait, failed tests, requests, the state of
 * the process) agree with the program's counts. */
#include "tool.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle came, waited, steps, failed, requests, most, state, polls, slots, fewest;
    MPI_Request pending[10], one;
    int data[10], flag = 1, doing = -1;
    double seconds = -1;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    came = watch(session, "p2p_unexpected_messages", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_SELF);
    waited = watch(session, "p2p_time_unexpected", MPI_T_PVAR_CLASS_TIMER, MPI_COMM_SELF);
    steps = watch(session, "p2p_search_steps", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_SELF);
    failed = watch(session, "p2p_failed_tests", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    polls = watch(session, "p2p_polls", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    requests = watch(session, "p2p_requests", MPI_T_PVAR_CLASS_LEVEL, MPI_COMM_NULL);
    most = watch(session, "p2p_requests", MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_COMM_NULL);
    state = watch(session, "process_state", MPI_T_PVAR_CLASS_STATE, MPI_COMM_NULL);
    slots = watch(session, "p2p_transfer_slots_free", MPI_T_PVAR_CLASS_LEVEL, MPI_COMM_NULL);
    fewest = watch(session, "p2p_transfer_slots_free", MPI_T_PVAR_CLASS_LOWWATERMARK, MPI_COMM_NULL);
    check_equal(read_pvar(session, requests), 0);
    unsigned slots_before = 0, slots_after = 0, slots_low = 0;
    ok(MPI_T_pvar_read(session, slots, &slots_before));
    check(slots_before > 0);

    /* Ten receives are posted; failed tests of them count as polls. */
    for (int i = 0; i < 10; i++)
        ok(MPI_Irecv(&data[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &pending[i]));
    check_equal(read_pvar(session, requests), 10);
    unsigned long long polls_before = read_pvar(session, polls);
    for (int i = 0; i < 7; i++) {
        ok(MPI_Test(&pending[i], &flag, MPI_STATUS_IGNORE));
        check(!flag);
    }
    ok(MPI_Testall(10, pending, &flag, MPI_STATUSES_IGNORE));
    check_equal(read_pvar(session, failed), 8);
    check(read_pvar(session, polls) >= polls_before + 8);
    check_equal(read_pvar(session, steps), 0);
    for (int i = 0; i < 10; i++)
        ok(MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_SELF));
    ok(MPI_Waitall(10, pending, MPI_STATUSES_IGNORE));
    /* Each message matched the receive at the head of the queue. */
    check_equal(read_pvar(session, steps), 10);
    check_equal(read_pvar(session, requests), 0);
    check_equal(read_pvar(session, most), 10);
    check_equal(read_pvar(session, came), 0);

    /* Three messages arrive before their receives, and wait 20 ms. */
    for (int i = 0; i < 3; i++)
        ok(MPI_Send(&i, 1, MPI_INT, 0, 5, MPI_COMM_SELF));
    ok(MPI_Iprobe(0, 6, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    check_equal(read_pvar(session, came), 3);
    usleep(20000);
    for (int i = 0; i < 3; i++)
        ok(MPI_Recv(&data[0], 1, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    ok(MPI_T_pvar_read(session, waited, &seconds));
    check(seconds >= 0.06 && seconds < 60);

    /* A receive with a wildcard matches at once, too. */
    unsigned long long before = read_pvar(session, steps);
    ok(MPI_Irecv(&data[0], 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_SELF, &one));
    ok(MPI_Send(&data[1], 1, MPI_INT, 0, 9, MPI_COMM_SELF));
    ok(MPI_Wait(&one, MPI_STATUS_IGNORE));
    check_equal(read_pvar(session, steps), before + 1);

    ok(MPI_T_pvar_read(session, state, &doing));
    check_equal(doing, 0);
    ok(MPI_T_pvar_read(session, slots, &slots_after));
    ok(MPI_T_pvar_read(session, fewest, &slots_low));
    check_equal(slots_after, slots_before);
    check(slots_low <= slots_before);
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
