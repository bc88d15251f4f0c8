/* Starts as many operations as the first argument gives, all through `one_start`, whose calls callgrind counts; the
 * harness subtracts the counts of two runs, so that calls made once do not count. The second argument selects the
 * operation: `start` or `isend` (sends of 8 bytes), `start_recv` or `irecv` (receives of 8 bytes, posted before their
 * message). A start of a persistent request is to cost at most 0.7 of the call that it stands for. */
#include "bench.h"

enum { BATCH = 20 };

static long words[BATCH];
static int persistent, receives;

__attribute__((noinline)) void one_start(long *word, MPI_Request *request)
{
    if (persistent)
        MPI_Start(request);
    else if (receives)
        MPI_Irecv(word, 8, MPI_BYTE, 1, 3, MPI_COMM_WORLD, request);
    else
        MPI_Isend(word, 8, MPI_BYTE, 1, 3, MPI_COMM_WORLD, request);
    __asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
    int rank, messages = argc > 1 ? atoi(argv[1]) : 0;
    const char *what = argc > 2 ? argv[2] : "start";
    MPI_Request requests[BATCH];
    persistent = strncmp(what, "start", 5) == 0;
    receives = strstr(what, "recv") != NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; rank == 0 && persistent && i < BATCH; i++) {
        if (receives)
            MPI_Recv_init(&words[i], 8, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Send_init(&words[i], 8, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &requests[i]);
    }
    for (int sent = 0; sent < messages; sent += BATCH) {
        if (rank == 0) {
            for (int i = 0; i < BATCH; i++)
                one_start(&words[i], &requests[i]);
            MPI_Send(NULL, 0, MPI_BYTE, 1, 4, MPI_COMM_WORLD);
            MPI_Waitall(BATCH, requests, MPI_STATUSES_IGNORE);
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(NULL, 0, MPI_BYTE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < BATCH; i++) {
                if (receives)
                    MPI_Send(&words[i], 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
                else
                    MPI_Recv(&words[i], 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
            MPI_Send(NULL, 0, MPI_BYTE, 0, 5, MPI_COMM_WORLD);
        }
    }
    for (int i = 0; rank == 0 && persistent && i < BATCH; i++)
        MPI_Request_free(&requests[i]);
    MPI_Finalize();
    return 0;
}
