/* A receive without a matching message can be cancelled: it completes, its status is cancelled and its buffer
 * unchanged. A receive that has its message cannot. */
#include "check.h"

int main(int argc, char **argv)
{
    int word = 3, flag = -1;
    MPI_Request request;
    MPI_Status status;
    begin(&argc, &argv);
    ok(MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &request));
    ok(MPI_Cancel(&request));
    ok(MPI_Wait(&request, &status));
    ok(MPI_Test_cancelled(&status, &flag));
    check(flag);
    check(request == MPI_REQUEST_NULL);
    check_equal(word, 3);
    /* The cancelled receive is not posted any more: this message goes to the later receive. */
    int other = (rank + 1) % size, from = (rank + size - 1) % size, value = -1;
    ok(MPI_Irecv(&value, 1, MPI_INT, from, 5, MPI_COMM_WORLD, &request));
    ok(MPI_Send(&rank, 1, MPI_INT, other, 5, MPI_COMM_WORLD));
    ok(MPI_Wait(&request, &status));
    ok(MPI_Test_cancelled(&status, &flag));
    check(!flag);
    check_equal(value, from);
    check_equal(word, 3);
    /* A message to the own process has arrived before the cancel. */
    MPI_Request send;
    ok(MPI_Isend(&rank, 1, MPI_INT, 0, 6, MPI_COMM_SELF, &send));
    ok(MPI_Probe(0, 6, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    ok(MPI_Irecv(&value, 1, MPI_INT, 0, 6, MPI_COMM_SELF, &request));
    ok(MPI_Cancel(&request));
    ok(MPI_Wait(&request, &status));
    ok(MPI_Test_cancelled(&status, &flag));
    check(!flag);
    check_equal(value, rank);
    ok(MPI_Wait(&send, MPI_STATUS_IGNORE));
    return finish();
}
