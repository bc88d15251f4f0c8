/* Threads of all ranks create communicators at the same time, each from its own: context ids differ, messages are
 * separate. */
#include "threads.h"

enum { THREADS = 4, ROUNDS = 30 };

static MPI_Comm own[THREADS];

static void *work(void *argument)
{
    int number = (int)(long)argument;
    MPI_Comm comm = own[number];
    MPI_Group group;
    MPI_Comm_group(comm, &group);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm made[4];
        MPI_Request request;
        ok(MPI_Comm_split(comm, 0, -rank, &made[0]));
        ok(MPI_Comm_idup(comm, &made[1], &request));
        ok(MPI_Comm_create(comm, group, &made[2]));
        /* All threads use one communicator here; their tags differ. */
        ok(MPI_Comm_create_group(MPI_COMM_WORLD, group, number, &made[3]));
        ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        for (int i = 0; i < 4; i++) {
            int mine, sent = number * 1000 + round * 10 + i, total = 0;
            MPI_Comm_rank(made[i], &mine);
            check_equal(mine, i == 0 ? size - 1 - rank : rank);
            ok(MPI_Allreduce(&sent, &total, 1, MPI_INT, MPI_SUM, made[i]));
            check_equal(total, sent * size);
            ok(MPI_Comm_free(&made[i]));
        }
    }
    ok(MPI_Group_free(&group));
    return NULL;
}

int main(int argc, char **argv)
{
    begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    run_threads(THREADS, own, work);
    return finish();
}
