/* Aborts a part of the job (`part`, `part-error`), or, of two jobs of which one has spawned the other, one that is
 * still connected with the other (`stay`) or not (`disconnect`): `apart parent stay`. */
#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Waits until a process has ended, and a while longer than its launcher takes to end others. */
static void outlive(int process)
{
    while (kill(process, 0) == 0 || errno != ESRCH)
        usleep(10000);
    sleep(4);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, other;
    int rank, own = getpid(), process = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 3 && rank == 1) {
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ABORT);
        if (!strcmp(argv[1], "part"))
            MPI_Abort(MPI_COMM_SELF, 3);
        MPI_Send(NULL, -1, MPI_INT, 0, 0, MPI_COMM_SELF);
    }
    if (argc < 3) {
        printf("rank %d continues\n", rank);
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_get_parent(&parent);
    const char *role = parent == MPI_COMM_NULL ? "parent" : "child";
    other = parent;
    if (parent == MPI_COMM_NULL)
        MPI_Comm_spawn(argv[0], argv + 1, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    MPI_Sendrecv(&own, 1, MPI_INT, 0, 0, &process, 1, MPI_INT, 0, 0, other, MPI_STATUS_IGNORE);
    if (!strcmp(argv[2], "disconnect"))
        MPI_Comm_disconnect(&other);
    if (!strcmp(argv[1], role))
        MPI_Abort(MPI_COMM_WORLD, 42);
    while (!strcmp(argv[2], "stay"))
        pause();
    outlive(process);
    printf("the %s continues\n", role);
    MPI_Finalize();
    return 0;
}
