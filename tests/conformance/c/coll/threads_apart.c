/* Threads of a rank run collectives at the same time, each on a communicator of its own. */
#include "threads.h"

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
    begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    run_threads(THREADS, own, work);
    for (int i = 0; i < THREADS; i++)
        check_equal(bad[i], 0);
    return finish();
}
