/* MPI_WTIME_IS_GLOBAL is true: clocks of two ranks agree within a round trip. */
#include "check.h"

int main(int argc, char **argv)
{
    int *global, flag = 0;
    begin(&argc, &argv);
    ok(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &global, &flag));
    check(flag && *global == 1);
    for (int i = 0; i < 200; i++) {
        double there = 0;
        if (rank == 0) {
            double begin = MPI_Wtime();
            ok(MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
            ok(MPI_Recv(&there, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            check(begin <= there && there <= MPI_Wtime());
        } else if (rank == 1) {
            ok(MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            there = MPI_Wtime();
            ok(MPI_Send(&there, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD));
        }
    }
    return finish();
}
