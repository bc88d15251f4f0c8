/* A group that has lost a process makes no intercommunicator with another one: all processes of both groups that are
 * left get an error, and none waits for ever. The leaders have a communicator of their own, without the lost process.
 * With the argument `late` the other group makes the call later. */
#include "check.h"
#include <string.h>
#include <time.h>

enum { CODE = 3, TAG = 5 };

/* Sends the errors to the first process, which prints the verdict of those that are left. */
static int finish_left(int lost)
{
    if (rank != 0) {
        ok(MPI_Send(&wrong, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD));
    } else {
        int total = wrong, other;
        for (int from = 1; from < size; from++) {
            if (from == lost)
                continue;
            ok(MPI_Recv(&other, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            total += other;
        }
        if (total == 0)
            printf("Those that are left found no errors\n");
    }
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int late = argc > 1 && strcmp(argv[1], "late") == 0;
    int lower = rank < size / 2, leads = rank == 0 || rank == size - 1, lost = 1;
    MPI_Comm half, leaders, inter = MPI_COMM_NULL;
    ok(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    ok(MPI_Comm_split(MPI_COMM_WORLD, lower, 0, &half));
    ok(MPI_Comm_split(MPI_COMM_WORLD, leads ? 0 : MPI_UNDEFINED, 0, &leaders));
    ok(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == lost)
        MPI_Abort(MPI_COMM_SELF, CODE);
    if (late && !lower)
        nanosleep(&(struct timespec) { 0, 300 * 1000 * 1000 }, NULL);
    int leader = lower ? 0 : size - 1 - size / 2;
    check_class(MPI_Intercomm_create(half, leader, leads ? leaders : MPI_COMM_NULL, lower, TAG, &inter),
                MPI_ERR_PROC_ABORTED);
    check(inter == MPI_COMM_NULL);
    if (leads) {
        /* The communicator of the leaders is as before. */
        int one = 1, sum = 0;
        ok(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, leaders));
        check_equal(sum, 2);
        ok(MPI_Intercomm_create(MPI_COMM_SELF, 0, leaders, lower, TAG, &inter));
        ok(MPI_Comm_free(&inter));
        ok(MPI_Comm_free(&leaders));
    }
    return finish_left(lost);
}
