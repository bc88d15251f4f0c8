/* Ten thousand unexpected messages are received in reverse order of arrival, then again by wildcard in order. */
#include "check.h"

enum { MESSAGES = 10000 };

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    for (int pass = 0; pass < 2; pass++) {
        if (rank == 0) {
            for (int i = 0; i < MESSAGES; i++)
                ok(MPI_Send(&i, 1, MPI_INT, 1, i, MPI_COMM_WORLD));
            ok(MPI_Send(NULL, 0, MPI_INT, 1, MESSAGES, MPI_COMM_WORLD));
        } else if (rank == 1) {
            ok(MPI_Recv(NULL, 0, MPI_INT, 0, MESSAGES, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            for (int i = 0; i < MESSAGES; i++) {
                int value = -1, expected = pass ? i : MESSAGES - 1 - i;
                MPI_Status status;
                ok(MPI_Recv(&value, 1, MPI_INT, 0, pass ? MPI_ANY_TAG : expected, MPI_COMM_WORLD, &status));
                check_equal(value, expected);
                check_equal(status.MPI_TAG, expected);
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return finish();
}
