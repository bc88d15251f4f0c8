/* Four threads of each process send to themselves; the result is right with any tools. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 500 };

static void *work(void *argument)
{
    int rank, tag = *(int *)argument, in, sum = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Sendrecv(&i, 1, MPI_INT, rank, tag, &in, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += in;
    }
    *(int *)argument = sum;
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, sums[THREADS], right = 0;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        return 1;
    for (int i = 0; i < THREADS; i++) {
        sums[i] = i;
        pthread_create(&threads[i], NULL, work, &sums[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        right += sums[i] == ROUNDS * (ROUNDS - 1) / 2;
    }
    MPI_Finalize();
    printf("threads: %d of %d right\n", right, THREADS);
    return right != THREADS;
}
