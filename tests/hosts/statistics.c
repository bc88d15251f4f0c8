/* What the ranks of several hosts have sent, for the statistics at the end: rank r sends r + 1 messages of 1000 bytes to the
 * next rank. `statistics R...`: then the ranks R are killed, each by itself, and the others find that in a receive from them. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char sent[1000], received[1000];

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    for (int i = 0; i <= rank; i++)
        MPI_Send(sent, sizeof sent, MPI_CHAR, next, 3, MPI_COMM_WORLD);
    for (int i = 0; i <= last; i++)
        MPI_Recv(received, sizeof received, MPI_CHAR, last, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    /* Connections are there a moment after the start. */
    if (argc > 1)
        sleep(2);
    for (int i = 1; i < argc; i++) {
        if (atoi(argv[i]) == rank)
            kill(getpid(), SIGKILL);
    }
    for (int i = 1; i < argc; i++) {
        int class = MPI_SUCCESS, error;
        error = MPI_Recv(received, 1, MPI_CHAR, atoi(argv[i]), 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Error_class(error, &class);
        if (class != MPI_ERR_PROC_ABORTED)
            printf("rank %d: the receive from rank %s has the class %d\n", rank, argv[i], class);
    }
    MPI_Finalize();
    if (rank == 0)
        printf("over\n");
    return 0;
}
