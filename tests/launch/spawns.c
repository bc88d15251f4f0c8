/* Spawns this program again. With `abort` the new process aborts; with `lost` this process ends at once. */
#include <mpi.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Comm parent, children;
    int number = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL)
        MPI_Comm_spawn(argv[0], argv + 1, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    else if (!strcmp(argv[1], "abort"))
        MPI_Abort(MPI_COMM_WORLD, 42);
    else
        pause();
    if (!strcmp(argv[1], "lost"))
        _exit(3);
    MPI_Comm_set_errhandler(children, MPI_ERRORS_RETURN);
    MPI_Recv(&number, 1, MPI_INT, 0, 0, children, MPI_STATUS_IGNORE);
    sleep(50);
    MPI_Finalize();
    return 0;
}
