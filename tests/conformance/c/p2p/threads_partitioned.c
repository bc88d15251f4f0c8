/* Threads of one process mark partitions of one send ready, and threads of the other call MPI_Parrived at the same
 * time, in many rounds; each reads the bytes of a partition that has arrived. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, PARTITIONS = 64, COUNT = 300, ROUNDS = 30 };

static int data[PARTITIONS * COUNT], round_number;
static MPI_Request request;

static void *mark(void *which)
{
    for (int i = (int)(size_t)which; i < PARTITIONS; i += THREADS) {
        for (int j = 0; j < COUNT; j++)
            data[i * COUNT + j] = i * 1000 + j + round_number;
        ok(MPI_Pready(i, request));
    }
    return NULL;
}

/* The receiver has half as many partitions. */
static void *look(void *which)
{
    for (int i = (int)(size_t)which; i < PARTITIONS / 2; i += THREADS) {
        int flag = 0;
        while (!flag)
            ok(MPI_Parrived(request, i, &flag));
        for (int j = 0; j < 2 * COUNT; j++) {
            int partition = 2 * i + j / COUNT;
            check(data[2 * i * COUNT + j] == partition * 1000 + j % COUNT + round_number);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    if (rank == 0)
        ok(MPI_Psend_init(data, PARTITIONS, COUNT, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    else if (rank == 1)
        ok(MPI_Precv_init(data, PARTITIONS / 2, 2 * COUNT, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    for (round_number = 0; round_number < ROUNDS && rank < 2; round_number++) {
        ok(MPI_Start(&request));
        for (size_t i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, rank == 0 ? mark : look, (void *)i);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    if (rank < 2)
        ok(MPI_Request_free(&request));
    return finish();
}
