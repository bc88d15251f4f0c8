/* The forms with large counts of persistent sends and receives, of a combined send and receive, and of the buffers of
 * communicators and sessions do what the others do. */
#include "check.h"

enum { LENGTH = 1000, ROOM = LENGTH * (int)sizeof(int) + MPI_BSEND_OVERHEAD };

static int out[LENGTH], in[LENGTH];
static char buffer[ROOM];

static void exchanged(MPI_Request requests[2], int round)
{
    for (int i = 0; i < LENGTH; i++) {
        out[i] = 1000 * round + rank + i;
        in[i] = -1;
    }
    /* The ready send needs the receive of its peer. */
    ok(MPI_Start(&requests[1]));
    ok(MPI_Barrier(MPI_COMM_WORLD));
    ok(MPI_Start(&requests[0]));
    ok(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < LENGTH; i += 333)
        check_equal(in[i], 1000 * round + 1 - rank + i);
}

int main(int argc, char **argv)
{
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Session session;
    MPI_Count count;
    void *back;
    int bytes, peer;
    begin(&argc, &argv);
    return_errors();
    peer = 1 - rank;
    ok(MPI_Comm_attach_buffer_c(MPI_COMM_WORLD, buffer, ROOM));
    for (int kind = 0; kind < 3; kind++) {
        if (kind == 0)
            ok(MPI_Send_init_c(out, LENGTH, MPI_INT, peer, kind, MPI_COMM_WORLD, &requests[0]));
        else if (kind == 1)
            ok(MPI_Rsend_init_c(out, LENGTH, MPI_INT, peer, kind, MPI_COMM_WORLD, &requests[0]));
        else
            ok(MPI_Bsend_init_c(out, LENGTH, MPI_INT, peer, kind, MPI_COMM_WORLD, &requests[0]));
        ok(MPI_Recv_init_c(in, LENGTH, MPI_INT, peer, kind, MPI_COMM_WORLD, &requests[1]));
        exchanged(requests, kind);
        exchanged(requests, kind + 10);
        ok(MPI_Request_free(&requests[0]));
        ok(MPI_Request_free(&requests[1]));
    }
    ok(MPI_Comm_detach_buffer_c(MPI_COMM_WORLD, &back, &count));
    check(back == buffer);
    check_equal(count, ROOM);

    out[0] = 77 + rank;
    ok(MPI_Isendrecv_c(out, 1, MPI_INT, peer, 5, in, LENGTH, MPI_INT, peer, 5, MPI_COMM_WORLD, &requests[0]));
    ok(MPI_Wait(&requests[0], &status));
    check_equal(in[0], 77 + peer);
    ok(MPI_Get_count_c(&status, MPI_INT, &count));
    check_equal(count, 1);
    check_class(MPI_Send_init_c(out, -1, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]), MPI_ERR_COUNT);
    check_class(MPI_Recv_init_c(in, -1, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]), MPI_ERR_COUNT);

    ok(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    ok(MPI_Session_attach_buffer(session, buffer, ROOM));
    ok(MPI_Session_detach_buffer(session, &back, &bytes));
    check(back == buffer);
    check_equal(bytes, ROOM);
    ok(MPI_Session_detach_buffer(session, &back, &bytes));
    check(back == NULL);
    check_equal(bytes, 0);
    ok(MPI_Session_finalize(&session));
    return finish();
}
