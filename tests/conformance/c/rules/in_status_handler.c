/* Where a call would return MPI_ERR_IN_STATUS, the handler gets the code of the failed request, as in its status. */
#include "check.h"

static int calls, given;

static void record(MPI_Comm *comm, int *code, ...)
{
    calls++;
    given = *code;
}

int main(int argc, char **argv)
{
    int data[2][4], message[4] = {1, 2, 3, 4};
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Errhandler handler;
    MPI_Comm comm;
    begin(&argc, &argv);
    ok(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    ok(MPI_Comm_create_errhandler(record, &handler));
    ok(MPI_Comm_set_errhandler(comm, handler));
    ok(MPI_Irecv(data[0], 4, MPI_INT, 0, 0, comm, &requests[0]));
    ok(MPI_Irecv(data[1], 1, MPI_INT, 0, 1, comm, &requests[1]));
    for (int i = 0; i < 2; i++)
        ok(MPI_Send(message, 4, MPI_INT, 0, i, comm));
    check_equal(MPI_Waitall(2, requests, statuses), MPI_ERR_IN_STATUS);
    check_equal(calls, 1);
    check_class(given, MPI_ERR_TRUNCATE);
    check_equal(given, statuses[1].MPI_ERROR);
    ok(MPI_Errhandler_free(&handler));
    ok(MPI_Comm_free(&comm));
    return finish();
}
