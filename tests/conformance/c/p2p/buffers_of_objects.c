/* A buffered send uses the buffer of its communicator, else that of the session its communicator is derived from,
 * else that of the process; an attach to an owner that has one is refused; a detach waits for the messages and gives
 * the buffer back; a flush waits for them, and an iflush is a request that does. */
#include "check.h"

enum { LENGTH = 3000, ROOM = LENGTH + MPI_BSEND_OVERHEAD, LARGE = 8000000 };

static char buffers[3][ROOM], large[LARGE], data[LENGTH];

/* Sends to rank 1, and lets it receive what was sent. */
static void sent(MPI_Comm comm, int expected)
{
    check_class(MPI_Bsend(large, LARGE, MPI_BYTE, 1, 1, comm), MPI_ERR_BUFFER);
    check_class(MPI_Bsend(data, LENGTH, MPI_BYTE, 1, 1, comm), expected);
}

int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm, of_session, child;
    MPI_Request request;
    void *back;
    int bytes, flag;
    MPI_Count count;
    begin(&argc, &argv);
    return_errors();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "buffers", MPI_INFO_NULL, MPI_ERRORS_RETURN, &of_session);
    MPI_Comm_dup(of_session, &child);
    if (rank == 0) {
        sent(comm, MPI_ERR_BUFFER);
        sent(of_session, MPI_ERR_BUFFER);
        ok(MPI_Comm_attach_buffer(comm, buffers[0], ROOM));
        check_class(MPI_Comm_attach_buffer(comm, buffers[1], ROOM), MPI_ERR_BUFFER);
        sent(comm, MPI_SUCCESS);
        sent(of_session, MPI_ERR_BUFFER);
        ok(MPI_Session_attach_buffer_c(session, buffers[1], ROOM));
        check_class(MPI_Session_attach_buffer(session, buffers[2], ROOM), MPI_ERR_BUFFER);
        sent(of_session, MPI_SUCCESS);
        sent(child, MPI_SUCCESS);
        sent(MPI_COMM_WORLD, MPI_ERR_BUFFER);
        ok(MPI_Buffer_attach(buffers[2], ROOM));
        sent(MPI_COMM_WORLD, MPI_SUCCESS);
        ok(MPI_Comm_flush_buffer(comm));
        ok(MPI_Session_flush_buffer(session));
        ok(MPI_Comm_iflush_buffer(comm, &request));
        ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check(request == MPI_REQUEST_NULL);
        ok(MPI_Session_iflush_buffer(session, &request));
        ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        ok(MPI_Buffer_iflush(&request));
        do
            ok(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
        while (!flag);
        ok(MPI_Comm_detach_buffer(comm, &back, &bytes));
        check(back == buffers[0] && bytes == ROOM);
        ok(MPI_Comm_detach_buffer(comm, &back, &bytes));
        check(back == NULL && bytes == 0);
        sent(comm, MPI_SUCCESS);
        ok(MPI_Session_detach_buffer_c(session, &back, &count));
        check(back == buffers[1] && count == ROOM);
        sent(of_session, MPI_SUCCESS);
        ok(MPI_Buffer_detach(&back, &bytes));
        check(back == buffers[2]);
        /* Of any size, and given back as it was. */
        ok(MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0));
        check_class(MPI_Bsend(large, LARGE, MPI_BYTE, 1, 2, comm), MPI_SUCCESS);
        ok(MPI_Comm_iflush_buffer(comm, &request));
        ok(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
        MPI_Send(NULL, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
        if (!flag)
            ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        ok(MPI_Comm_detach_buffer(comm, &back, &bytes));
        check(back == MPI_BUFFER_AUTOMATIC);
        /* A communicator that is freed takes its buffer along. */
        ok(MPI_Comm_attach_buffer(comm, buffers[0], ROOM));
    } else if (rank == 1) {
        MPI_Comm from[6] = {comm, of_session, child, MPI_COMM_WORLD, comm, of_session};
        for (int i = 0; i < 6; i++)
            ok(MPI_Recv(data, LENGTH, MPI_BYTE, 0, 1, from[i], MPI_STATUS_IGNORE));
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        ok(MPI_Recv(large, LARGE, MPI_BYTE, 0, 2, comm, MPI_STATUS_IGNORE));
    }
    check_class(MPI_Comm_attach_buffer(comm, NULL, 10), MPI_ERR_BUFFER);
    check_class(MPI_Comm_flush_buffer(MPI_COMM_NULL), MPI_ERR_COMM);
    MPI_Comm_free(&child);
    MPI_Comm_free(&of_session);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
    return finish();
}
