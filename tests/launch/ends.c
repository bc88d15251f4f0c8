/* Ends as the argument selects: by a fatal error, by a truncated message, by MPI_Abort after a refused call, without
 * MPI_Finalize, or never: it waits for itself, for the next rank, or for another tag than that of the message it gets.
 */
#include <mpi.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int word, size;
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* Others that wait for this rank do so before it ends. */
    if (size > 1 && strcmp(argv[1], "receive") != 0)
        usleep(300000);
    if (strcmp(argv[1], "fatal") == 0)
        MPI_Send(NULL, 0, MPI_INT, 99, 0, MPI_COMM_WORLD);
    if (strcmp(argv[1], "truncated") == 0)
        MPI_Sendrecv((int[4]){0}, 4, MPI_INT, 0, 7, &word, 1, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    if (strcmp(argv[1], "abort") == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        if (MPI_Send(NULL, 0, MPI_INT, 99, 0, MPI_COMM_WORLD) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 3);
    }
    if (strcmp(argv[1], "receive") == 0 || strcmp(argv[1], "stray") == 0) {
        int rank;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (strcmp(argv[1], "stray") == 0)
            MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD);
        MPI_Recv(&word, 1, MPI_INT, (rank + 1) % size, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (strcmp(argv[1], "wait") == 0)
        MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    return 0;
}
