/* A real program on persistent requests: a master deals out rows of the Mandelbrot set to whichever worker is free,
 * and collects the counts of steps; each worker has one persistent receive for its task and one persistent send for
 * its result, started for every task. The counts of all rows, whichever worker computed them, agree with those that the
 * master computes alone. */
#include "check.h"

enum { ROWS = 96, COLUMNS = 64, LIMIT = 200, STOP = -1, MOST = 16 };

struct result { int row, steps[COLUMNS]; };

static void compute(int row, struct result *result)
{
    result->row = row;
    for (int column = 0; column < COLUMNS; column++) {
        /* Fixed point, so that every processor finds the same. */
        long long cx = -8192 + column * 12288LL / COLUMNS, cy = -5120 + row * 10240LL / ROWS, x = 0, y = 0;
        int steps = 0;
        while (steps < LIMIT && x * x + y * y < 4 * 4096LL * 4096LL) {
            long long next = (x * x - y * y) / 4096 + cx;
            y = 2 * x * y / 4096 + cy;
            x = next;
            steps++;
        }
        result->steps[column] = steps;
    }
}

static void master(void)
{
    static struct result results[MOST], all[ROWS], alone;
    MPI_Request tasks[MOST], answers[MOST];
    int rows[MOST], workers = size - 1, next = 0, done = 0, share[MOST] = {0};
    for (int i = 0; i < workers; i++) {
        ok(MPI_Send_init(&rows[i], 1, MPI_INT, i + 1, 1, MPI_COMM_WORLD, &tasks[i]));
        ok(MPI_Recv_init(&results[i], sizeof results[i], MPI_BYTE, i + 1, 2, MPI_COMM_WORLD, &answers[i]));
    }
    for (int i = 0; i < workers && next < ROWS; i++) {
        rows[i] = next++;
        ok(MPI_Start(&answers[i]));
        ok(MPI_Start(&tasks[i]));
    }
    while (done < ROWS) {
        MPI_Status status;
        int who;
        ok(MPI_Waitany(workers, answers, &who, &status));
        check(who >= 0 && who < workers && status.MPI_SOURCE == who + 1);
        all[results[who].row] = results[who];
        share[who]++;
        done++;
        ok(MPI_Wait(&tasks[who], MPI_STATUS_IGNORE));
        if (next < ROWS) {
            rows[who] = next++;
            ok(MPI_Start(&answers[who]));
            ok(MPI_Start(&tasks[who]));
        }
    }
    for (int i = 0; i < workers; i++) {
        rows[i] = STOP;
        check(share[i] > 0);
    }
    ok(MPI_Startall(workers, tasks));
    ok(MPI_Waitall(workers, tasks, MPI_STATUSES_IGNORE));
    for (int row = 0; row < ROWS; row++) {
        compute(row, &alone);
        check(memcmp(&alone, &all[row], sizeof alone) == 0);
    }
    for (int i = 0; i < workers; i++) {
        ok(MPI_Request_free(&tasks[i]));
        ok(MPI_Request_free(&answers[i]));
    }
}

static void worker(void)
{
    struct result result;
    MPI_Request task, answer;
    int row;
    ok(MPI_Recv_init(&row, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &task));
    ok(MPI_Send_init(&result, sizeof result, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &answer));
    for (;;) {
        ok(MPI_Start(&task));
        ok(MPI_Wait(&task, MPI_STATUS_IGNORE));
        if (row == STOP)
            break;
        compute(row, &result);
        ok(MPI_Start(&answer));
        ok(MPI_Wait(&answer, MPI_STATUS_IGNORE));
    }
    ok(MPI_Request_free(&task));
    ok(MPI_Request_free(&answer));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (rank == 0)
        master();
    else
        worker();
    return finish();
}
