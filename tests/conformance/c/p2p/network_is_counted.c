/* What two processes exchange over the network is counted at both ends, and nothing without one; net_eager_limit is
 * the longest message that goes whole. */
#include "../tool/tool.h"

#include <stdlib.h>

enum { MESSAGES = 50, BYTES = 1000, MIDDLE = 60000, LONG = 1 << 20, SLACK = 10000 };

static MPI_T_pvar_session session;

static MPI_T_pvar_handle counter(const char *name)
{
    return watch(session, name, MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
}

static MPI_T_pvar_handle bytes_of(const char *name)
{
    return watch(session, name, MPI_T_PVAR_CLASS_AGGREGATE, MPI_COMM_NULL);
}

static MPI_T_cvar_handle cvar(const char *name)
{
    MPI_T_cvar_handle handle;
    int index = -1, count;
    ok(MPI_T_cvar_get_index(name, &index));
    ok(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    return handle;
}

/* The other process has received all that this one has sent before, and the reverse. */
static void meet(void)
{
    int word = 0;
    ok(MPI_Sendrecv_replace(&word, 1, MPI_INT, 1 - rank, 9, 1 - rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Rank 0 sends messages of a length. */
static void transfer(char *data, int messages, int bytes)
{
    meet();
    for (int i = 0; i < messages; i++) {
        if (rank == 0)
            ok(MPI_Send(data, bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD));
        else
            ok(MPI_Recv(data, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    meet();
}

int main(int argc, char **argv)
{
    int forced = -1;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    check_equal(size, 2);
    MPI_T_cvar_handle force = cvar("net_force"), limit = cvar("net_eager_limit");
    ok(MPI_T_cvar_read(force, &forced));
    const int over = forced != 0;
    char *data = calloc(1, LONG);
    meet();
    MPI_T_pvar_handle records_sent = counter("net_records_sent"), records_received = counter("net_records_received");
    MPI_T_pvar_handle packets_sent = counter("net_packets_sent"), refused = counter("net_packets_refused");
    MPI_T_pvar_handle sent = bytes_of("net_bytes_sent"), received = bytes_of("net_bytes_received");
    MPI_T_pvar_handle bytes_read = bytes_of("net_bytes_read"), written = bytes_of("net_bytes_written");
    MPI_T_pvar_handle offered = counter("p2p_rendezvous_sent");

    transfer(data, MESSAGES, BYTES);
    unsigned long long records = read_pvar(session, rank == 0 ? records_sent : records_received);
    unsigned long long bytes = read_pvar(session, rank == 0 ? sent : received);
    unsigned long long packets = read_pvar(session, packets_sent);
    check(over ? records >= MESSAGES && records <= MESSAGES + 20 : records == 0);
    check(over ? bytes >= MESSAGES * BYTES && bytes <= MESSAGES * BYTES + SLACK : bytes == 0);
    check(over ? packets > 0 && packets <= read_pvar(session, records_sent) : packets == 0);
    check_equal(read_pvar(session, refused), 0);

    /* A long message is read by its receiver, or travels in records. */
    unsigned long long before = read_pvar(session, received);
    transfer(data, 1, LONG);
    unsigned long long read = read_pvar(session, bytes_read), in_records = read_pvar(session, received) - before;
    check_equal(read_pvar(session, written), 0);
    if (rank == 0 || !over)
        check_equal(read, 0);
    else
        check(read == LONG ? in_records <= SLACK : read == 0 && in_records >= LONG);

    if (over) {
        /* The limit counts from the next send on. */
        unsigned long long value = 20000, usual = 0, offers = read_pvar(session, offered);
        ok(MPI_T_cvar_read(limit, &usual));
        check_equal(usual, 65536);
        transfer(data, 1, MIDDLE);
        check_equal(read_pvar(session, offered), offers);
        ok(MPI_T_cvar_write(limit, &value));
        transfer(data, 1, MIDDLE);
        check_equal(read_pvar(session, offered), offers + (rank == 0));
        transfer(data, 1, (int)value);
        check_equal(read_pvar(session, offered), offers + (rank == 0));
    }
    free(data);
    ok(MPI_T_cvar_handle_free(&force));
    ok(MPI_T_cvar_handle_free(&limit));
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
