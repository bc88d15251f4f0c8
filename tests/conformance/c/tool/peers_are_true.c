/* Variables by peer, by size and by protocol agree with the program's counts of messages to and from each rank;
 * arrays of a communicator have as many elements as it has processes. With the argument `cells` longer messages than
 * eager ones may go whole. */
#include "tool.h"

enum { MAX = 16, CLASSES = 64, EAGER = 16384 };

static int size_class(int bytes)
{
    int class = 0;
    for (; bytes > 0; bytes >>= 1)
        class ++;
    return class;
}

static MPI_T_pvar_handle array(MPI_T_pvar_session session, const char *name, int class, MPI_Comm comm, int expected)
{
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int count = -1;
    ok(MPI_T_pvar_handle_alloc(session, find_pvar(name, class), &comm, &handle, &count));
    check_equal(count, expected);
    ok(MPI_T_pvar_start(session, handle));
    return handle;
}

int main(int argc, char **argv)
{
    static const int lengths[] = {0, 1, 3, 64, 5000, 16384, 16385, 300000};
    static char out[300000], in[300000];
    enum { LENGTHS = sizeof lengths / sizeof *lengths };
    unsigned long long sent[MAX] = {0}, sent_bytes[MAX] = {0}, received[MAX] = {0}, received_bytes[MAX] = {0};
    unsigned long long classes[CLASSES] = {0}, eager = 0, eager_bytes = 0, offered = 0, offered_bytes = 0;
    unsigned long long found[CLASSES];
    MPI_T_pvar_session session;
    MPI_Comm other;
    begin(&argc, &argv);
    int cells = argc > 1;
    tool_begin();
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    ok(MPI_T_pvar_session_create(&session));
    MPI_T_pvar_handle to = array(session, "p2p_peer_messages_sent", MPI_T_PVAR_CLASS_COUNTER, other, size);
    MPI_T_pvar_handle to_bytes = array(session, "p2p_peer_bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE, other, size);
    MPI_T_pvar_handle from = array(session, "p2p_peer_messages_received", MPI_T_PVAR_CLASS_COUNTER, other, size);
    MPI_T_pvar_handle from_bytes = array(session, "p2p_peer_bytes_received", MPI_T_PVAR_CLASS_AGGREGATE, other, size);
    MPI_T_pvar_handle own = array(session, "p2p_peer_messages_sent", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_SELF, 1);
    MPI_T_pvar_handle sizes = array(session, "p2p_sizes_sent", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL, CLASSES);
    MPI_T_pvar_handle whole = watch(session, "p2p_eager_sent", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    MPI_T_pvar_handle whole_bytes = watch(session, "p2p_eager_bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE, MPI_COMM_NULL);
    MPI_T_pvar_handle long_ones = watch(session, "p2p_rendezvous_sent", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    MPI_T_pvar_handle long_bytes = watch(session, "p2p_rendezvous_bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE,
                                         MPI_COMM_NULL);
    MPI_T_pvar_handle whole_in = watch(session, "p2p_eager_received", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    MPI_T_pvar_handle long_in = watch(session, "p2p_rendezvous_received", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);

    /* Rank r sends r + 1 rounds of all lengths to every rank, itself included, and no other message. */
    for (int round = 0; round < size; round++)
        for (int l = 0; l < LENGTHS; l++)
            for (int step = 0; step < size; step++) {
                int dest = round <= rank ? (rank + step) % size : MPI_PROC_NULL;
                int source = (rank + size - step) % size;
                if (round > source)
                    source = MPI_PROC_NULL;
                ok(MPI_Sendrecv(out, lengths[l], MPI_CHAR, dest, l, in, 300000, MPI_CHAR, source, l, other,
                                MPI_STATUS_IGNORE));
                if (dest != MPI_PROC_NULL) {
                    sent[dest]++, sent_bytes[dest] += (unsigned long long)lengths[l];
                    classes[size_class(lengths[l])]++;
                    if (lengths[l] <= EAGER)
                        eager++, eager_bytes += (unsigned long long)lengths[l];
                    else
                        offered++, offered_bytes += (unsigned long long)lengths[l];
                }
                if (source != MPI_PROC_NULL)
                    received[source]++, received_bytes[source] += (unsigned long long)lengths[l];
            }
    unsigned long long in_messages = 0;
    for (int peer = 0; peer < size; peer++)
        in_messages += received[peer];
    check_equal(read_pvar(session, whole) + read_pvar(session, long_ones), eager + offered);
    check_equal(read_pvar(session, whole_bytes) + read_pvar(session, long_bytes), eager_bytes + offered_bytes);
    check_equal(read_pvar(session, whole_in) + read_pvar(session, long_in), in_messages);
    if (cells) {
        check(read_pvar(session, whole) >= eager && read_pvar(session, whole_bytes) >= eager_bytes);
    } else {
        check_equal(read_pvar(session, whole), eager);
        check_equal(read_pvar(session, whole_bytes), eager_bytes);
        check_equal(read_pvar(session, long_in), in_messages / LENGTHS * 2);
    }
    ok(MPI_T_pvar_read(session, sizes, found));
    for (int c = 0; c < CLASSES; c++)
        check_equal(found[c], classes[c]);
    const struct { MPI_T_pvar_handle handle; unsigned long long *expected; } all[] = {
        {to, sent}, {to_bytes, sent_bytes}, {from, received}, {from_bytes, received_bytes}};
    for (int v = 0; v < 4; v++) {
        ok(MPI_T_pvar_read(session, all[v].handle, found));
        for (int peer = 0; peer < size; peer++)
            check_equal(found[peer], all[v].expected[peer]);
    }
    check_equal(read_pvar(session, own), 0);
    ok(MPI_Comm_free(&other));
    check(MPI_T_pvar_read(session, to, found) != MPI_SUCCESS);
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
