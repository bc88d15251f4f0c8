/* A communicator can be freed while messages on it are under way: they still complete. */
#include "check.h"

enum { LENGTH = 300000 };

int main(int argc, char **argv)
{
    static unsigned char out[LENGTH], in[LENGTH];
    MPI_Comm other;
    MPI_Request requests[2];
    begin(&argc, &argv);
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    fill(out, LENGTH, rank);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    ok(MPI_Irecv(in, LENGTH, MPI_BYTE, previous, 1, other, &requests[0]));
    ok(MPI_Isend(out, LENGTH, MPI_BYTE, next, 1, other, &requests[1]));
    ok(MPI_Comm_free(&other));
    check(other == MPI_COMM_NULL);
    ok(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    check(filled(in, LENGTH, previous));
    return finish();
}
