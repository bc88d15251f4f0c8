/* MPI_Probe and MPI_Iprobe return source, tag and length of the first matching message, which stays in the queue. */
#include "check.h"

int main(int argc, char **argv)
{
    static char data[100000];
    begin(&argc, &argv);
    if (rank == 0) {
        for (int i = 0; i < 4; i++)
            ok(MPI_Send(data, i * 30000, MPI_CHAR, 1, 10 + i, MPI_COMM_WORLD));
    } else if (rank == 1) {
        MPI_Status status;
        int flag, count;
        /* A tag without a message is never found. */
        ok(MPI_Iprobe(0, 99, MPI_COMM_WORLD, &flag, &status));
        check_equal(flag, 0);
        for (int i = 0; i < 4; i++) {
            for (int again = 0; again < 2; again++) {
                count = -1;
                ok(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
                check_equal(status.MPI_SOURCE, 0);
                check_equal(status.MPI_TAG, 10 + i);
                MPI_Get_count(&status, MPI_CHAR, &count);
                check_equal(count, i * 30000);
            }
            ok(MPI_Iprobe(0, 10 + i, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
            check(flag);
            ok(MPI_Recv(data, count, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
        ok(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status));
        check_equal(flag, 0);
    }
    return finish();
}
