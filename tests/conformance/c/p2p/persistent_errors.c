/* Errors: a start of an active request, of an ordinary one, of a stale one and of none; a cancel of an inactive one.
 * A refused call changes nothing: the operation under way completes. MPI_Startall starts none if one cannot be
 * started. */
#include "check.h"

int main(int argc, char **argv)
{
    int in = 0, in2 = 0, out = 42, flag;
    MPI_Request receive, second, send, stale, list[3];
    begin(&argc, &argv);
    MPI_Request buffered;
    MPI_Comm own;
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    /* The error of a start is raised on the communicator of its request: that of MPI_COMM_SELF would end the job. */
    ok(MPI_Bsend_init(&out, 1, MPI_INT, 0, 1, own, &buffered));
    check_class(MPI_Startall(1, &buffered), MPI_ERR_BUFFER);
    check_class(MPI_Cancel(&buffered), MPI_ERR_REQUEST);
    ok(MPI_Request_free(&buffered));
    MPI_Comm_free(&own);
    return_errors();
    ok(MPI_Recv_init(&in, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &receive));
    ok(MPI_Recv_init(&in2, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &second));
    ok(MPI_Send_init(&out, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &send));
    check_class(MPI_Cancel(&receive), MPI_ERR_REQUEST);
    ok(MPI_Start(&receive));
    check_class(MPI_Start(&receive), MPI_ERR_REQUEST);
    list[0] = second, list[1] = receive;
    check_class(MPI_Startall(2, list), MPI_ERR_REQUEST);
    list[1] = MPI_REQUEST_NULL;
    check_class(MPI_Startall(2, list), MPI_ERR_REQUEST);
    /* `second` is still inactive. */
    ok(MPI_Start(&second));
    ok(MPI_Cancel(&second));
    ok(MPI_Wait(&second, MPI_STATUS_IGNORE));
    ok(MPI_Startall(0, NULL));
    ok(MPI_Start(&send));
    check_class(MPI_Start(&send), MPI_ERR_REQUEST);
    ok(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    check_equal(in, 42);
    ok(MPI_Wait(&send, MPI_STATUS_IGNORE));
    stale = send;
    ok(MPI_Request_free(&send));
    check_class(MPI_Start(&stale), MPI_ERR_REQUEST);
    check_class(MPI_Wait(&stale, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    check_class(MPI_Request_free(&stale), MPI_ERR_REQUEST);
    stale = MPI_REQUEST_NULL;
    check_class(MPI_Start(&stale), MPI_ERR_REQUEST);
    MPI_Irecv(&in, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, &stale);
    check_class(MPI_Start(&stale), MPI_ERR_REQUEST);
    ok(MPI_Test(&stale, &flag, MPI_STATUS_IGNORE));
    check(!flag);
    MPI_Send(&out, 1, MPI_INT, rank, 3, MPI_COMM_WORLD);
    ok(MPI_Wait(&stale, MPI_STATUS_IGNORE));
    check_class(MPI_Send_init(&out, 1, MPI_INT, size, 0, MPI_COMM_WORLD, &send), MPI_ERR_RANK);
    check_class(MPI_Send_init(&out, 1, MPI_INT, 0, -5, MPI_COMM_WORLD, &send), MPI_ERR_TAG);
    check_class(MPI_Bsend_init(&out, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, &send), MPI_ERR_COUNT);
    check_class(MPI_Recv_init(NULL, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &send), MPI_ERR_BUFFER);
    ok(MPI_Request_free(&receive));
    ok(MPI_Request_free(&second));
    return finish();
}
