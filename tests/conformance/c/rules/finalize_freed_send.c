/* After a freed send is received before a barrier, both processes finalise, at every size. */
#include "check.h"

int main(int argc, char **argv)
{
    static unsigned char data[2000000];
    static const int sizes[] = {0, 8, 5000, 100000, 2000000};
    MPI_Request request;
    begin(&argc, &argv);
    for (int i = 0; i < 5; i++) {
        if (rank == 0) {
            fill(data, (size_t)sizes[i], i);
            ok(MPI_Isend(data, sizes[i], MPI_BYTE, 1, i, MPI_COMM_WORLD, &request));
            ok(MPI_Request_free(&request));
            check(request == MPI_REQUEST_NULL);
        } else if (rank == 1) {
            ok(MPI_Recv(data, sizes[i], MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            check(filled(data, (size_t)sizes[i], i));
        }
        ok(MPI_Barrier(MPI_COMM_WORLD));
    }
    if (rank == 0)
        verdict(wrong);
    MPI_Finalize();
    return wrong != 0;
}
