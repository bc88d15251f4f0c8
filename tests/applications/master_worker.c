/* A master gives tasks of different lengths to workers that are free, with persistent requests: one receive for each
 * worker, which are started again and again, and persistent sends in the workers. Which worker does which task
 * differs from run to run, the results do not. */
#include "application.h"

enum { TASKS = 400, WIDTH = 64, STOP = -1 };

typedef struct {
    int64_t task;
    double values[WIDTH];
} result;

static void work(int64_t task, result *out)
{
    out->task = task;
    double value = fraction((uint64_t)task);
    int rounds = 100 + (int)(scrambled((uint64_t)task) % 2000);
    for (int i = 0; i < WIDTH * rounds; i++) {
        value = 3.9 * value * (1 - value);
        out->values[i % WIDTH] = value;
    }
}

static void serve(void)
{
    int64_t task;
    result out;
    MPI_Request requests[2];
    MPI_Recv_init(&task, 1, MPI_INT64_T, 0, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Ssend_init(&out, sizeof out, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &requests[1]);
    memset(&out, 0, sizeof out);
    for (;;) {
        MPI_Start(&requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        if (task == STOP)
            break;
        work(task, &out);
        MPI_Start(&requests[1]);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* Gives every worker its first task, then the next one to each worker that answers. */
static uint64_t lead(int workers)
{
    result *answers = memory(workers, sizeof *answers);
    int64_t *tasks = memory(workers, sizeof *tasks), next = 0;
    uint64_t *digests = memory(TASKS, sizeof *digests);
    MPI_Request *receives = memory(workers, sizeof *receives), *sends = memory(workers, sizeof *sends);
    int *done = memory(workers, sizeof *done), found, busy = 0;
    for (int i = 0; i < workers; i++) {
        MPI_Recv_init(&answers[i], sizeof *answers, MPI_BYTE, i + 1, 2, MPI_COMM_WORLD, &receives[i]);
        MPI_Send_init(&tasks[i], 1, MPI_INT64_T, i + 1, 1, MPI_COMM_WORLD, &sends[i]);
        tasks[i] = next < TASKS ? next++ : STOP;
        busy += tasks[i] != STOP;
    }
    MPI_Startall(workers, receives);
    MPI_Startall(workers, sends);
    MPI_Waitall(workers, sends, MPI_STATUSES_IGNORE);
    while (busy > 0) {
        MPI_Waitsome(workers, receives, &found, done, MPI_STATUSES_IGNORE);
        for (int i = 0; i < found; i++) {
            int worker = done[i];
            digests[answers[worker].task] = digest(0, &answers[worker], sizeof *answers);
            tasks[worker] = next < TASKS ? next++ : STOP;
            busy -= tasks[worker] == STOP;
            if (tasks[worker] != STOP)
                MPI_Start(&receives[worker]);
            MPI_Start(&sends[worker]);
            MPI_Wait(&sends[worker], MPI_STATUS_IGNORE);
        }
    }
    for (int i = 0; i < workers; i++) {
        MPI_Request_free(&receives[i]);
        MPI_Request_free(&sends[i]);
    }
    uint64_t all = digest(0, digests, TASKS * sizeof *digests);
    free(answers);
    free(tasks);
    free(digests);
    free(receives);
    free(sends);
    free(done);
    return all;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0) {
        serve();
    } else if (size == 1) {
        result out;
        uint64_t digests[TASKS];
        memset(&out, 0, sizeof out);
        for (int64_t task = 0; task < TASKS; task++) {
            work(task, &out);
            digests[task] = digest(0, &out, sizeof out);
        }
        printf("%d tasks: %016llx\n", TASKS, (unsigned long long)digest(0, digests, sizeof digests));
    } else {
        printf("%d tasks: %016llx\n", TASKS, (unsigned long long)lead(size - 1));
    }
    MPI_Finalize();
    return 0;
}
