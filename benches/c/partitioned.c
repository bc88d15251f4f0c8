/* Time of one partitioned message of 1 MiB in 16 partitions, from the start of both sides to the end, with as many
 * threads in each process as the argument gives: each marks its share of the partitions ready, or looks for them with
 * MPI_Parrived. */
#include "floor.h"
#include <pthread.h>

enum { PARTITIONS = 16, EACH = 65536, ROUNDS = 400, WARM_UP = 40, MOST = 2 };

static char data[PARTITIONS * EACH];
static int rank, threads;
static MPI_Request request;
static pthread_barrier_t turn;

static void share(int thread)
{
    for (int i = thread; i < PARTITIONS; i += threads) {
        int flag = 0;
        if (rank == 0)
            MPI_Pready(i, request);
        else
            while (!flag)
                MPI_Parrived(request, i, &flag);
    }
}

static void *work(void *number)
{
    for (int round = 0; round < WARM_UP + ROUNDS; round++) {
        pthread_barrier_wait(&turn);
        share((int)(size_t)number);
        pthread_barrier_wait(&turn);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t others[MOST];
    int provided;
    double began = 0;
    threads = argc > 1 ? atoi(argv[1]) : 1;
    if (threads < 1 || threads > MOST)
        return 2;
    MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    floor_begin();
    if (rank == 0)
        MPI_Psend_init(data, PARTITIONS, EACH, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(data, PARTITIONS, EACH, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    pthread_barrier_init(&turn, NULL, (unsigned)threads);
    for (size_t i = 1; i < (size_t)threads; i++)
        pthread_create(&others[i - 1], NULL, work, (void *)i);
    for (int round = 0; round < WARM_UP + ROUNDS; round++) {
        if (round == WARM_UP) {
            MPI_Barrier(MPI_COMM_WORLD);
            began = MPI_Wtime();
        }
        MPI_Start(&request);
        if (threads > 1)
            pthread_barrier_wait(&turn);
        share(0);
        if (threads > 1)
            pthread_barrier_wait(&turn);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("partitioned/%d %.2f us\n", threads, (MPI_Wtime() - began) / ROUNDS * 1e6);
    for (int i = 1; i < threads; i++)
        pthread_join(others[i - 1], NULL);
    MPI_Request_free(&request);
    floor_end();
    MPI_Finalize();
    return 0;
}
