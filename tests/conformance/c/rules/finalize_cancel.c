/* Example 1.6 of the standard: a probe for another tag finds nothing; a send that is cancelled while its receiver
 * finalises is reported as cancelled, at eager sizes and at rendezvous sizes. */
#include "check.h"
#include <time.h>

int main(int argc, char **argv)
{
    static char data[2000000];
    int length = argc > 1 ? atoi(argv[1]) : 1, flag = -1;
    MPI_Request request;
    MPI_Status status;
    begin(&argc, &argv);
    if (rank == 0) {
        ok(MPI_Isend(data, length, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request));
        ok(MPI_Barrier(MPI_COMM_WORLD));
        ok(MPI_Barrier(MPI_COMM_WORLD));
        struct timespec nap = {0, 100 * 1000 * 1000};
        nanosleep(&nap, NULL);
        ok(MPI_Cancel(&request));
        ok(MPI_Wait(&request, &status));
        ok(MPI_Test_cancelled(&status, &flag));
        check(flag);
        verdict(wrong);
    } else if (rank == 1) {
        ok(MPI_Barrier(MPI_COMM_WORLD));
        ok(MPI_Iprobe(0, 2, MPI_COMM_WORLD, &flag, &status));
        check_equal(flag, 0);
        ok(MPI_Barrier(MPI_COMM_WORLD));
    } else {
        ok(MPI_Barrier(MPI_COMM_WORLD));
        ok(MPI_Barrier(MPI_COMM_WORLD));
    }
    MPI_Finalize();
    return wrong != 0;
}
