/* Variables of requests and messages: the bytes as the program passed them, the bytes transferred so far, and the
 * end with their completion. */
#include "bound.h"

enum { ROOM = 300000, LONG = 200000, SHORT = 500, GO = 1, DATA = 2 };

#define SIZE MPI_T_PVAR_CLASS_SIZE
#define LEVEL MPI_T_PVAR_CLASS_LEVEL

static MPI_T_pvar_session session;
static char data[ROOM];

/* The handles of one request. */
struct seen {
    MPI_T_pvar_handle bytes, moved, done;
};

static struct seen look_at(MPI_Request *request)
{
    return (struct seen){watch_object(session, "p2p_request_bytes", SIZE, request),
                         watch_object(session, "p2p_request_bytes_moved", LEVEL, request),
                         watch_object(session, "p2p_request_done", MPI_T_PVAR_CLASS_PERCENTAGE, request)};
}

/* Reads the values of a request until its operation is complete, then completes it. They never decrease. */
static void follow(MPI_Request *request, struct seen seen, unsigned long long bytes, unsigned long long all)
{
    MPI_Request stale = *request;
    unsigned long long before = 0;
    double part = 0;
    for (int flag = 0; !flag;) {
        ok(MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE));
        unsigned long long moved = read_pvar(session, seen.moved);
        double done = read_part(session, seen.done);
        check(moved >= before && moved <= all);
        check(done >= part && (flag || done * (double)all <= (double)moved + 1));
        check_equal(read_pvar(session, seen.bytes), bytes);
        before = moved, part = done;
    }
    check_equal(before, all);
    check(part == 1);
    ok(MPI_Wait(request, MPI_STATUS_IGNORE));
    check_ended(session, seen.bytes);
    check_ended(session, seen.moved);
    check_ended(session, seen.done);
    refuse_object(session, "p2p_request_bytes", SIZE, &stale);
}

static void nothing_yet(struct seen seen, unsigned long long bytes)
{
    check_equal(read_pvar(session, seen.bytes), bytes);
    check_equal(read_pvar(session, seen.moved), 0);
    check(read_part(session, seen.done) == 0);
}

static void receives(int peer)
{
    for (int length = 0; length <= LONG; length += length ? LONG - SHORT : SHORT) {
        MPI_Request request;
        ok(MPI_Irecv(data, ROOM, MPI_CHAR, peer, DATA, MPI_COMM_WORLD, &request));
        struct seen seen = look_at(&request);
        nothing_yet(seen, ROOM);
        ok(MPI_Send(NULL, 0, MPI_CHAR, peer, GO, MPI_COMM_WORLD));
        follow(&request, seen, ROOM, (unsigned long long)length);
    }
    /* A cancelled request is complete, without bytes. */
    MPI_Request request;
    ok(MPI_Irecv(data, ROOM, MPI_CHAR, peer, DATA, MPI_COMM_WORLD, &request));
    struct seen seen = look_at(&request);
    ok(MPI_Cancel(&request));
    check_equal(read_pvar(session, seen.moved), 0);
    check(read_part(session, seen.done) == 1);
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_ended(session, seen.moved);
}

static void answer_receives(int peer)
{
    for (int length = 0; length <= LONG; length += length ? LONG - SHORT : SHORT) {
        ok(MPI_Recv(NULL, 0, MPI_CHAR, peer, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        ok(MPI_Send(data, length, MPI_CHAR, peer, DATA, MPI_COMM_WORLD));
    }
}

static void sends(int peer)
{
    MPI_Request request, stale;
    struct seen seen;
    /* A request that is complete when it starts. */
    ok(MPI_Isend(data, SHORT, MPI_CHAR, peer, DATA, MPI_COMM_WORLD, &request));
    follow(&request, look_at(&request), SHORT, SHORT);
    /* A synchronous send is complete when it is received. */
    ok(MPI_Issend(data, SHORT, MPI_CHAR, peer, DATA, MPI_COMM_WORLD, &request));
    seen = look_at(&request);
    check_equal(read_pvar(session, seen.moved), SHORT);
    ok(MPI_Send(NULL, 0, MPI_CHAR, peer, GO, MPI_COMM_WORLD));
    follow(&request, seen, SHORT, SHORT);
    /* A send whose receive is not posted yet. */
    ok(MPI_Isend(data, LONG, MPI_CHAR, peer, DATA, MPI_COMM_WORLD, &request));
    seen = look_at(&request);
    nothing_yet(seen, LONG);
    ok(MPI_Send(NULL, 0, MPI_CHAR, peer, GO, MPI_COMM_WORLD));
    follow(&request, seen, LONG, LONG);
    /* The program frees it: its handle is invalid, though the message is still to be received. */
    ok(MPI_Isend(data, LONG, MPI_CHAR, peer, DATA, MPI_COMM_WORLD, &request));
    stale = request;
    seen = look_at(&request);
    ok(MPI_Request_free(&request));
    check_ended(session, seen.done);
    refuse_object(session, "p2p_request_done", MPI_T_PVAR_CLASS_PERCENTAGE, &stale);
    ok(MPI_Send(NULL, 0, MPI_CHAR, peer, GO, MPI_COMM_WORLD));
    /* A request to MPI_PROC_NULL. */
    ok(MPI_Isend(data, SHORT, MPI_CHAR, MPI_PROC_NULL, DATA, MPI_COMM_WORLD, &request));
    seen = look_at(&request);
    check_equal(read_pvar(session, seen.bytes), 0);
    check(read_part(session, seen.done) == 1);
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_ended(session, seen.bytes);
}

static void answer_sends(int peer)
{
    ok(MPI_Recv(data, SHORT, MPI_CHAR, peer, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < 3; i++) {
        ok(MPI_Recv(NULL, 0, MPI_CHAR, peer, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        ok(MPI_Recv(data, LONG, MPI_CHAR, peer, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

static void messages(int peer)
{
    MPI_T_pvar_handle held = watch(session, "p2p_messages_held", LEVEL, MPI_COMM_NULL);
    MPI_T_pvar_handle most = watch(session, "p2p_messages_held", MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_COMM_NULL);
    MPI_Message message[2], stale;
    MPI_Status status;
    MPI_Request request;
    static const int lengths[] = {SHORT, LONG};
    unsigned long long before = read_pvar(session, held);
    for (int i = 0; i < 2; i++) {
        ok(MPI_Mprobe(peer, DATA, MPI_COMM_WORLD, &message[i], &status));
        check_equal(read_pvar(session, held), before + (unsigned)i + 1);
    }
    for (int i = 0; i < 2; i++) {
        stale = message[i];
        MPI_T_pvar_handle bytes = watch_object(session, "p2p_message_bytes", SIZE, &message[i]);
        MPI_T_pvar_handle here = watch_object(session, "p2p_message_bytes_held", LEVEL, &message[i]);
        check_equal(read_pvar(session, bytes), lengths[i]);
        /* The long message was only offered: its data is at the sender. */
        check_equal(read_pvar(session, here), i ? 0 : SHORT);
        if (i == 0) {
            ok(MPI_Mrecv(data, ROOM, MPI_CHAR, &message[i], MPI_STATUS_IGNORE));
        } else {
            ok(MPI_Imrecv(data, LONG, MPI_CHAR, &message[i], &request));
            follow(&request, look_at(&request), LONG, LONG);
        }
        check_ended(session, bytes);
        check_ended(session, here);
        refuse_object(session, "p2p_message_bytes", SIZE, &stale);
    }
    check_equal(read_pvar(session, held), before);
    check_equal(read_pvar(session, most), before + 2);
    ok(MPI_T_pvar_handle_free(session, &held));
    ok(MPI_T_pvar_handle_free(session, &most));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    int peer = 1 - rank;
    for (int turn = 0; turn < 2; turn++) {
        if (rank == turn) {
            receives(peer);
            sends(peer);
            messages(peer);
        } else {
            answer_receives(peer);
            answer_sends(peer);
            ok(MPI_Send(data, SHORT, MPI_CHAR, peer, DATA, MPI_COMM_WORLD));
            ok(MPI_Send(data, LONG, MPI_CHAR, peer, DATA, MPI_COMM_WORLD));
        }
    }
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
