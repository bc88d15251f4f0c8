/* Threads of a rank run collectives at the same time, each on a communicator of its own. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 200 };

static MPI_Comm own[THREADS];
static int bad[THREADS];

static void *work(void *argument)
{
    int me = (int)(size_t)argument;
    for (int i = 0; i < ROUNDS; i++) {
        int value = rank == i % size ? i * THREADS + me : -1, sum = 0, mine = rank + i + me;
        MPI_Bcast(&value, 1, MPI_INT, i % size, own[me]);
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, own[me]);
        MPI_Barrier(own[me]);
        bad[me] += value != i * THREADS + me || sum != size * (size - 1) / 2 + size * (i + me);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    for (int i = 0; i < THREADS; i++)
        ok(MPI_Comm_dup(MPI_COMM_WORLD, &own[i]));
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        check_equal(bad[i], 0);
        ok(MPI_Comm_free(&own[i]));
    }
    return finish();
}
