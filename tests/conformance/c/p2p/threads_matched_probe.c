/* Several threads take messages of unknown length by matched probe: none is lost and none is taken twice. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, MESSAGES = 2000 };

static int seen[MESSAGES], bad;

static void *take(void *unused)
{
    int data[32];
    for (;;) {
        MPI_Message message;
        MPI_Status status;
        int count = -1;
        MPI_Mprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        MPI_Mrecv(data, count, MPI_INT, &message, MPI_STATUS_IGNORE);
        if (status.MPI_TAG == 1)
            return unused;
        if (count != data[0] % 31 + 1 || data[count - 1] != data[0])
            __atomic_add_fetch(&bad, 1, __ATOMIC_RELAXED);
        __atomic_add_fetch(&seen[data[0] % MESSAGES], 1, __ATOMIC_RELAXED);
    }
}

int main(int argc, char **argv)
{
    begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    if (rank == 0) {
        for (int i = 0; i < MESSAGES; i++) {
            int data[32];
            for (int k = 0; k < 32; k++)
                data[k] = i;
            ok(MPI_Send(data, i % 31 + 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
        }
        for (int i = 0; i < THREADS; i++)
            ok(MPI_Send(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD));
    } else if (rank == 1) {
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, take, NULL);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        check_equal(bad, 0);
        for (int i = 0; i < MESSAGES; i++)
            check_equal(seen[i], 1);
    }
    return finish();
}
