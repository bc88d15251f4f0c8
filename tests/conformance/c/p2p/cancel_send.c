/* A send that its receiver has matched is not cancelled, and the wait for it ends, also if processes have freed the
 * communicator meanwhile; a send without a receive is cancelled, and leaves no message. */
#include "check.h"

int main(int argc, char **argv)
{
    int out = 5, in = -1, flag = -1, go = 1;
    MPI_Request first, second;
    MPI_Status status;
    MPI_Comm other;
    begin(&argc, &argv);
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    if (rank == 0) {
        ok(MPI_Isend(&out, 1, MPI_INT, 1, 1, other, &first));
        ok(MPI_Recv(&go, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        ok(MPI_Cancel(&first));
        ok(MPI_Wait(&first, &status));
        ok(MPI_Test_cancelled(&status, &flag));
        check_equal(flag, 0);
        ok(MPI_Isend(&out, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &first));
        ok(MPI_Isend(&out, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &second));
        ok(MPI_Cancel(&first));
        ok(MPI_Wait(&first, &status));
        ok(MPI_Test_cancelled(&status, &flag));
        check(flag);
        ok(MPI_Wait(&second, &status));
        ok(MPI_Test_cancelled(&status, &flag));
        check_equal(flag, 0);
        ok(MPI_Send(&go, 1, MPI_INT, 1, 9, MPI_COMM_WORLD));
        ok(MPI_Comm_free(&other));
    } else if (rank == 1) {
        ok(MPI_Recv(&in, 1, MPI_INT, 0, 1, other, MPI_STATUS_IGNORE));
        ok(MPI_Comm_free(&other));
        ok(MPI_Send(&go, 1, MPI_INT, 0, 9, MPI_COMM_WORLD));
        ok(MPI_Recv(&go, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        ok(MPI_Iprobe(0, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        check_equal(flag, 0);
        ok(MPI_Recv(&in, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        check_equal(in, out);
    } else {
        ok(MPI_Comm_free(&other));
    }
    return finish();
}
