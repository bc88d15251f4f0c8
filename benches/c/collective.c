/* Microseconds a call of MPI_Barrier, MPI_Bcast (8 bytes from rank 0) and MPI_Allreduce (one double, sum): a loop of
 * calls on all ranks, the slowest rank's time. */
#include "floor.h"

static void call(int which, double *in, double *out)
{
    if (which == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    else if (which == 1)
        MPI_Bcast(in, 8, MPI_BYTE, 0, MPI_COMM_WORLD);
    else
        MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"barrier", "bcast", "allreduce"};
    start(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    floor_begin();
    for (int which = 0; which < 3; which++) {
        /* As many calls a batch as make about five milliseconds, computed from a first slow batch. */
        double batch[BATCHES], in = 1, out, slowest = 0;
        int calls = 20;
        for (int b = -2; b < BATCHES; b++) {
            MPI_Barrier(MPI_COMM_WORLD);
            double begin = now();
            for (int i = 0; i < calls; i++)
                call(which, &in, &out);
            double mine = (now() - begin) / calls;
            MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            if (b >= 0)
                batch[b] = slowest * 1e6;
            else
                calls = slowest > 1e-3 ? 5 : slowest < 5e-7 ? 10000 : (int)(5e-3 / slowest);
        }
        char name[64];
        snprintf(name, sizeof name, "%s/%d", names[which], size);
        if (rank == 0)
            report(name, median(batch, BATCHES), "us");
    }
    floor_end();
    MPI_Finalize();
    return 0;
}
