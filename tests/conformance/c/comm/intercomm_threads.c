/* Threads of all ranks make intercommunicators at once, each out of its own communicators; the leaders use one peer
 * communicator with their own tags. */
#include "threads.h"

enum { THREADS = 4, ROUNDS = 20 };

static MPI_Comm own[THREADS];

static void *work(void *argument)
{
    int number = (int)(long)argument, side = rank % 2;
    MPI_Comm half;
    ok(MPI_Comm_split(own[number], side, 0, &half));
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm inter, copy, both;
        MPI_Request request;
        int others, mine, value = -1, sent = number * 1000 + round, flag = 0;
        ok(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !side, number, &inter));
        ok(MPI_Comm_idup(inter, &copy, &request));
        ok(MPI_Intercomm_merge(inter, side, &both));
        ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        ok(MPI_Comm_remote_size(copy, &others));
        ok(MPI_Comm_rank(copy, &mine));
        if (mine < others) {
            ok(MPI_Sendrecv(&sent, 1, MPI_INT, mine, 1, &value, 1, MPI_INT, mine, 1, copy, MPI_STATUS_IGNORE));
            check_equal(value, sent);
        }
        ok(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &flag, MPI_STATUS_IGNORE));
        check(!flag);
        ok(MPI_Allreduce(&sent, &value, 1, MPI_INT, MPI_MAX, both));
        check_equal(value, sent);
        ok(MPI_Comm_free(&inter));
        ok(MPI_Comm_free(&both));
        ok(MPI_Comm_free(&copy));
    }
    ok(MPI_Comm_free(&half));
    return NULL;
}

int main(int argc, char **argv)
{
    begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    run_threads(THREADS, own, work);
    return finish();
}
