/* A blocking receive of a message that has arrived, or arrives while it waits, gets that message and no other: in the
 * order of the sends, behind receives that are posted and messages that were found before, with its status, and with an
 * error if its buffer is too short. The counts of its communicator are those of the program. */
#include "tool.h"

enum { ROUNDS = 300, LONGEST = 70000 };

static const int lengths[] = {0,  1,   8,   16,  24,   31,   32,   33,    64,    100,
                              191, 192, 255, 1000, 2048, 9000, 16384, 20000, LONGEST};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static unsigned char data[LONGEST], expected[LONGEST];


/* Both processes send in turn, with all lengths. */
static void to_and_fro(MPI_Comm comm)
{
    for (int i = 0; i < ROUNDS; i++) {
        int length = lengths[i % LENGTHS], tag = i % 4, any = i % 3 == 0, count = -1, other = 1 - rank;
        MPI_Status status = {.MPI_SOURCE = -7, .MPI_TAG = -7, .MPI_ERROR = -9};
        fill(expected, (size_t)length, i);
        for (int turn = 0; turn < 2; turn++) {
            if (turn == rank) {
                ok(MPI_Send(expected, length, MPI_BYTE, other, tag, comm));
                continue;
            }
            memset(data, 0, sizeof data);
            MPI_Status *wanted = i % 5 ? &status : MPI_STATUS_IGNORE;
            ok(MPI_Recv(data, LONGEST, MPI_BYTE, other, any ? MPI_ANY_TAG : tag, comm, wanted));
            check(memcmp(data, expected, (size_t)length) == 0);
            check(length == LONGEST || data[length] == 0);
            if (i % 5 == 0)
                continue;
            ok(MPI_Get_count(&status, MPI_BYTE, &count));
            check_equal(count, length);
            check_equal(status.MPI_SOURCE, other);
            check_equal(status.MPI_TAG, tag);
            check_equal(status.MPI_ERROR, -9);
        }
    }
}

/* Messages that rank 0 has sent before rank 1 receives the first of them. */
static void in_order(MPI_Comm comm, MPI_Comm second)
{
    int value = -1, first = -1, flag = 0;
    MPI_Request posted;
    MPI_Status status;
    if (rank == 1)
        ok(MPI_Irecv(&first, 1, MPI_INT, 0, 5, comm, &posted));
    ok(MPI_Barrier(comm));
    if (rank == 0) {
        for (int i = 0; i < 8; i++)
            ok(MPI_Send(&i, 1, MPI_INT, 1, 5 + i % 2, i == 3 ? second : comm));
        ok(MPI_Barrier(comm));
        return;
    }
    ok(MPI_Barrier(comm));
    /* The message with the tag of the posted receive is its own. */
    ok(MPI_Recv(&value, 1, MPI_INT, 0, 5, comm, MPI_STATUS_IGNORE));
    check_equal(value, 2);
    ok(MPI_Wait(&posted, MPI_STATUS_IGNORE));
    check_equal(first, 0);
    ok(MPI_Recv(&value, 1, MPI_INT, 0, MPI_ANY_TAG, comm, &status));
    check_equal(value, 1);
    check_equal(status.MPI_TAG, 6);
    ok(MPI_Recv(&value, 1, MPI_INT, 0, 6, second, MPI_STATUS_IGNORE));
    check_equal(value, 3);
    ok(MPI_Iprobe(0, 6, comm, &flag, MPI_STATUS_IGNORE));
    check(flag);
    ok(MPI_Recv(&value, 1, MPI_INT, 0, 6, comm, MPI_STATUS_IGNORE));
    check_equal(value, 5);
    ok(MPI_Recv(&value, 1, MPI_INT, 0, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
    check_equal(value, 4);
    ok(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 6, comm, MPI_STATUS_IGNORE));
    check_equal(value, 7);
    ok(MPI_Recv(&value, 1, MPI_INT, 0, 5, comm, MPI_STATUS_IGNORE));
    check_equal(value, 6);
}

/* A message that is too long is an error, and is gone. */
static void too_long(MPI_Comm comm)
{
    int values[40] = {0}, value = -1;
    MPI_Status status;
    for (int length = 2; length <= 40; length += 38) {
        if (rank == 0) {
            ok(MPI_Send(values, length, MPI_INT, 1, 1, comm));
            ok(MPI_Send(&length, 1, MPI_INT, 1, 1, comm));
            continue;
        }
        check_class(MPI_Recv(&value, 1, MPI_INT, 0, 1, comm, &status), MPI_ERR_TRUNCATE);
        check_equal(status.MPI_SOURCE, 0);
        ok(MPI_Recv(&value, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE));
        check_equal(value, length);
    }
}

/* All receives count as messages, with their bytes, and none counts as posted when it is over. */
static void counts(MPI_Comm comm)
{
    MPI_T_pvar_session session;
    ok(MPI_T_pvar_session_create(&session));
    MPI_T_pvar_handle messages = watch(session, "p2p_messages_received", MPI_T_PVAR_CLASS_COUNTER, comm);
    MPI_T_pvar_handle bytes = watch(session, "p2p_bytes_received", MPI_T_PVAR_CLASS_AGGREGATE, comm);
    MPI_T_pvar_handle posted = watch(session, "p2p_posted_length", MPI_T_PVAR_CLASS_LEVEL, comm);
    unsigned long long messages_before = read_pvar(session, messages), bytes_before = read_pvar(session, bytes);
    unsigned long long sum = 0;
    to_and_fro(comm);
    for (int i = 0; i < ROUNDS; i++)
        sum += (unsigned long long)lengths[i % LENGTHS];
    check_equal(read_pvar(session, messages) - messages_before, ROUNDS);
    check_equal(read_pvar(session, bytes) - bytes_before, sum);
    check_equal(read_pvar(session, posted), 0);
    ok(MPI_T_pvar_session_free(&session));
}

int main(int argc, char **argv)
{
    MPI_Comm comm, second;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    ok(MPI_Comm_dup(comm, &second));
    ok(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    to_and_fro(comm);
    in_order(comm, second);
    too_long(comm);
    counts(comm);
    ok(MPI_Comm_free(&second));
    ok(MPI_Comm_free(&comm));
    ok(MPI_T_finalize());
    return finish();
}
