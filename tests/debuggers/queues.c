/* Queues that are known beforehand: rank 1 has receives and unexpected messages, rank 0 a send that waits. Then rank 1
 * runs, stops or crashes outside of the library. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int rank, flag, words[300] = {0};
    static int many[100];
    MPI_Request requests[3], request;
    MPI_Comm pair;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &pair);
    MPI_Comm_set_name(pair, "pair");
    if (rank == 0) {
        MPI_Send(words, 3, MPI_INT, 1, 41, pair);
        MPI_Send(words, 300, MPI_INT, 1, 42, pair);
        MPI_Issend(words, 2, MPI_INT, 1, 43, MPI_COMM_WORLD, &request);
        for (int i = 0; i < 100; i++)
            MPI_Send(&many[i], 1, MPI_INT, 1, 1000 + i, pair);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Irecv(words, 5, MPI_INT, 0, 51, pair, &requests[0]);
        MPI_Irecv(words, 6, MPI_INT, MPI_ANY_SOURCE, 52, pair, &requests[1]);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < 100; i++)
            MPI_Iprobe(0, 1099, pair, &flag, MPI_STATUS_IGNORE);
        MPI_Irecv(words, 7, MPI_INT, 0, 53, MPI_COMM_WORLD, &requests[2]);
        char command[64];
        snprintf(command, sizeof command, "cat /proc/%d/maps > maps", getpid());
        if (system(command) != 0)
            return 1;
        printf("pid %d\n", getpid());
        fflush(stdout);
        if (argc > 1 && strcmp(argv[1], "stop") == 0)
            raise(SIGSTOP);
        if (argc > 1 && strcmp(argv[1], "crash") == 0)
            abort();
        for (volatile int forever = 1; forever;)
            ;
    }
    MPI_Finalize();
    return 0;
}
