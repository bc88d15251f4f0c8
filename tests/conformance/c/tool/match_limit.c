/* A queue is searched item by item until a search looks at more items than the control variable allows; from then on it
 * is hashed, and the number of search steps agrees. Messages are received in the standard's order at any limit, also
 * when it is set while messages wait. */
#include "tool.h"

enum { MOST = 40 };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle steps;
static MPI_T_cvar_handle limit;

static void set_limit(unsigned value)
{
    unsigned now = ~0u;
    ok(MPI_T_cvar_write(limit, &value));
    ok(MPI_T_cvar_read(limit, &now));
    check_equal(now, value);
}

static void send(int first, int count)
{
    for (int tag = first; tag < first + count; tag++)
        ok(MPI_Send(&tag, 1, MPI_INT, 0, tag, MPI_COMM_SELF));
}

/* Messages do not overtake each other: when this one is here, all earlier ones are. */
static void arrive(void)
{
    int mark = 999;
    ok(MPI_Sendrecv(&mark, 1, MPI_INT, 0, mark, &mark, 1, MPI_INT, 0, mark, MPI_COMM_SELF, MPI_STATUS_IGNORE));
}

/* Receives a message of this tag or any tag, whose data is its own tag. Returns the search steps of the receive. */
static unsigned long long receive(int tag, int expected)
{
    unsigned long long before = read_pvar(session, steps);
    int data = -1;
    ok(MPI_Recv(&data, 1, MPI_INT, tag == MPI_ANY_TAG ? MPI_ANY_SOURCE : 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    check_equal(data, expected);
    return read_pvar(session, steps) - before;
}

/* Unexpected messages in reverse order of arrival. */
static unsigned long long reversed(int count)
{
    unsigned long long sum = 0;
    send(0, count);
    arrive();
    for (int tag = count - 1; tag >= 0; tag--)
        sum += receive(tag, tag);
    return sum;
}

/* Posted receives whose messages come in reverse order, one of them a wildcard. */
static unsigned long long posted(int count)
{
    int data[MOST];
    MPI_Request pending[MOST];
    unsigned long long before = read_pvar(session, steps);
    for (int tag = 0; tag < count; tag++)
        ok(MPI_Irecv(&data[tag], 1, MPI_INT, tag == 0 ? MPI_ANY_SOURCE : 0, tag, MPI_COMM_SELF, &pending[tag]));
    for (int tag = count - 1; tag >= 0; tag--)
        ok(MPI_Send(&tag, 1, MPI_INT, 0, tag, MPI_COMM_SELF));
    ok(MPI_Waitall(count, pending, MPI_STATUSES_IGNORE));
    for (int tag = 0; tag < count; tag++)
        check_equal(data[tag], tag);
    return read_pvar(session, steps) - before;
}

static void search_as_told(void)
{
    set_limit(10);
    check_equal(reversed(10), 10 * 11 / 2);
    /* The first search is long, the others are of a hashed queue. */
    check_equal(reversed(11), 11 + 10);
    check_equal(posted(10), 10 * 11 / 2);
    /* The posted wildcard adds one step to the search of each of the other messages. */
    check_equal(posted(11), 11 + 10 * 2);
    /* Short searches of a long queue. */
    send(0, MOST);
    arrive();
    for (int tag = 0; tag < MOST; tag++)
        check_equal(receive(tag, tag), 1);
    set_limit(0);
    check_equal(reversed(1), 1);
    check_equal(reversed(5), 5);
    set_limit(MOST);
    check_equal(reversed(MOST), MOST * (MOST + 1) / 2);
}

/* Queued messages keep their order; a lower limit applies to the next search, a higher one when the queue was empty. */
static void set_while_messages_wait(void)
{
    set_limit(4);
    send(0, 3);
    arrive();
    check_equal(receive(2, 2), 3);
    set_limit(1);
    send(3, 3);
    arrive();
    check_equal(receive(MPI_ANY_TAG, 0), 1);
    check_equal(receive(5, 5), 4);
    check_equal(receive(4, 4), 1);
    set_limit(100);
    send(6, 3);
    arrive();
    check_equal(receive(8, 8), 1);
    check_equal(receive(MPI_ANY_TAG, 1), 1);
    check_equal(receive(MPI_ANY_TAG, 3), 1);
    check_equal(receive(6, 6) + receive(7, 7), 2);
    check_equal(reversed(3), 6);
}

int main(int argc, char **argv)
{
    int index = -1, count, scope = -1;
    unsigned out_of_range[] = {4097, ~0u};
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    steps = watch(session, "p2p_search_steps", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_SELF);
    ok(MPI_T_cvar_get_index("p2p_match_list_limit", &index));
    ok(MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &scope));
    check_equal(scope, MPI_T_SCOPE_LOCAL);
    ok(MPI_T_cvar_handle_alloc(index, NULL, &limit, &count));
    search_as_told();
    set_while_messages_wait();
    for (int i = 0; i < 2; i++)
        check_equal(MPI_T_cvar_write(limit, &out_of_range[i]), MPI_T_ERR_INVALID);
    ok(MPI_T_cvar_handle_free(&limit));
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
