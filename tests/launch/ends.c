/* Ends as the argument selects: by a fatal error, by a truncated message, by MPI_Abort after a refused call, without
 * MPI_Finalize, or never.
 */
#include <mpi.h>
#include <stddef.h>
#include <string.h>

int main(int argc, char **argv)
{
    int word;
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(argv[1], "fatal") == 0)
        MPI_Send(NULL, 0, MPI_INT, 99, 0, MPI_COMM_WORLD);
    if (strcmp(argv[1], "truncated") == 0)
        MPI_Sendrecv((int[4]){0}, 4, MPI_INT, 0, 7, &word, 1, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    if (strcmp(argv[1], "abort") == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        if (MPI_Send(NULL, 0, MPI_INT, 99, 0, MPI_COMM_WORLD) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
    if (strcmp(argv[1], "wait") == 0)
        MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    return 0;
}
