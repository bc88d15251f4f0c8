/* A freed request's handle is null, and its operation still completes. */
#include "check.h"

enum { LENGTH = 300000 };

int main(int argc, char **argv)
{
    static unsigned char data[LENGTH], small[8];
    MPI_Request request;
    begin(&argc, &argv);
    if (rank == 0) {
        fill(data, LENGTH, 1);
        fill(small, 8, 2);
        ok(MPI_Isend(data, LENGTH, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request));
        ok(MPI_Request_free(&request));
        check(request == MPI_REQUEST_NULL);
        ok(MPI_Isend(small, 8, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &request));
        ok(MPI_Request_free(&request));
        MPI_Recv(NULL, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        ok(MPI_Recv(small, 8, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        check(filled(small, 8, 2));
        ok(MPI_Recv(data, LENGTH, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        check(filled(data, LENGTH, 1));
        MPI_Send(NULL, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
    }
    return finish();
}
