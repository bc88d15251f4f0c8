/* Threads work on windows of their own at the same time, and start operations on a common one. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 3, ROUNDS = 60 };

static MPI_Win own[THREADS], common;
static long sums[THREADS][2], together[THREADS];

static void *alone(void *argument)
{
    int me = (int)(MPI_Aint)argument;
    long one = 1;
    ok(MPI_Win_fence(0, own[me]));
    for (int i = 1; i <= ROUNDS; i++) {
        for (int target = 0; target < size; target++)
            ok(MPI_Accumulate(&one, 1, MPI_LONG, target, i % 2, 1, MPI_LONG, MPI_SUM, own[me]));
        ok(MPI_Win_fence(0, own[me]));
        check_equal(sums[me][i % 2], (long)size * ((i + i % 2) / 2));
        ok(MPI_Win_fence(0, own[me]));
    }
    return NULL;
}

static void *beside(void *argument)
{
    int me = (int)(MPI_Aint)argument;
    static long one = 1;
    for (int i = 0; i < ROUNDS * 5; i++)
        ok(MPI_Accumulate(&one, 1, MPI_LONG, i % size, me, 1, MPI_LONG, MPI_SUM, common));
    return NULL;
}

static void run(void *(*body)(void *))
{
    pthread_t threads[THREADS];
    for (MPI_Aint i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, body, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    for (int i = 0; i < THREADS; i++)
        ok(MPI_Win_create(sums[i], sizeof sums[i], sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &own[i]));
    ok(MPI_Win_create(together, sizeof together, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &common));
    run(alone);
    ok(MPI_Win_fence(0, common));
    run(beside);
    ok(MPI_Win_fence(0, common));
    int mine = 0;
    for (int i = 0; i < ROUNDS * 5; i++)
        mine += i % size == rank;
    for (int i = 0; i < THREADS; i++)
        check_equal(together[i], (long)size * mine);
    for (int i = 0; i < THREADS; i++)
        ok(MPI_Win_free(&own[i]));
    ok(MPI_Win_free(&common));
    return finish();
}
