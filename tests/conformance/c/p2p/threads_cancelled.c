/* A thread that sleeps until a receive is complete returns when another thread cancels the receive, whether it is
 * the leader or a follower among the waiting threads; the other threads keep waiting, and get their messages. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 12, ROUNDS = 40 };

static MPI_Request requests[THREADS];
static int inbox[THREADS], cancelled[THREADS], received[THREADS];

static void *wait_one(void *argument)
{
    int me = (int)(size_t)argument, flag = -1;
    MPI_Status status;
    if (me % 3 == 0) {
        int index = -1;
        MPI_Request list[3] = {MPI_REQUEST_NULL, requests[me], MPI_REQUEST_NULL};
        MPI_Waitany(3, list, &index, &status);
    } else {
        MPI_Wait(&requests[me], &status);
    }
    MPI_Test_cancelled(&status, &flag);
    cancelled[me] = flag;
    received[me] = flag ? -1 : inbox[me];
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    for (int round = 0; round < ROUNDS; round++) {
        for (int t = 0; t < THREADS; t++) {
            ok(MPI_Irecv(&inbox[t], 1, MPI_INT, 0, t, MPI_COMM_SELF, &requests[t]));
            pthread_create(&threads[t], NULL, wait_one, (void *)(size_t)t);
        }
        /* Every second thread is cancelled, from the first on or from the last on; then the others get messages. */
        for (int n = 0; n < THREADS; n += 2) {
            int t = round % 2 ? n : THREADS - 1 - n;
            MPI_Request copy = requests[t];
            ok(MPI_Cancel(&copy));
        }
        for (int n = 1; n < THREADS; n += 2) {
            int t = round % 2 ? n : THREADS - 1 - n, value = round * 100 + t;
            ok(MPI_Send(&value, 1, MPI_INT, 0, t, MPI_COMM_SELF));
        }
        for (int t = 0; t < THREADS; t++) {
            int lost = (round % 2 ? t : THREADS - 1 - t) % 2 == 0;
            pthread_join(threads[t], NULL);
            check_equal(cancelled[t], lost);
            check_equal(received[t], lost ? -1 : round * 100 + t);
        }
    }
    return finish();
}
