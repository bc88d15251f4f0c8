/* A thread that waits for a message does not block another one from sending the message that causes it. */
#include "check.h"
#include <pthread.h>

enum { ROUNDS = 500 };

static void *answer(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        int value = -1;
        MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        value++;
        MPI_Send(&value, 1, MPI_INT, 0, 2, MPI_COMM_SELF);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    pthread_create(&thread, NULL, answer, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        int value = -1;
        ok(MPI_Send(&i, 1, MPI_INT, 0, 1, MPI_COMM_SELF));
        ok(MPI_Recv(&value, 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        check_equal(value, i + 1);
    }
    pthread_join(thread, NULL);
    return finish();
}
