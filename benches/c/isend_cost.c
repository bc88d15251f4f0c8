/* Sends as many 8-byte messages with MPI_Isend as the argument states, all through `one_isend`, which is what callgrind
 * counts; the harness subtracts the counts of two runs, which removes costs that occur once. */
#include "bench.h"

enum { BATCH = 20 };

__attribute__((noinline)) void one_isend(const void *word, MPI_Request *request)
{
    MPI_Isend(word, 8, MPI_BYTE, 1, 3, MPI_COMM_WORLD, request);
    __asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
    long word = 0;
    int rank, messages = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Request requests[BATCH];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int sent = 0; sent < messages; sent += BATCH) {
        for (int i = 0; i < BATCH; i++) {
            if (rank == 0)
                one_isend(&word, &requests[i]);
            else
                MPI_Recv(&word, 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (rank == 0) {
            MPI_Waitall(BATCH, requests, MPI_STATUSES_IGNORE);
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Send(NULL, 0, MPI_BYTE, 0, 4, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
