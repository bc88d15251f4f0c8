/* No process leaves a barrier before all processes have entered it. */
#include "check.h"
#include <time.h>

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    for (int late = 0; late < size; late++) {
        struct timespec nap = {0, 20 * 1000 * 1000};
        double mine[2];
        if (rank == late)
            nanosleep(&nap, NULL);
        mine[0] = MPI_Wtime();
        ok(MPI_Barrier(MPI_COMM_WORLD));
        mine[1] = MPI_Wtime();
        /* All ranks are on one host with one clock. */
        double last_in = 0, first_out = 0;
        ok(MPI_Allreduce(&mine[0], &last_in, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
        ok(MPI_Allreduce(&mine[1], &first_out, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD));
        check(first_out >= last_in);
    }
    return finish();
}
