/* With the control variable coll_progress_thread, operations that do not block move on while a process makes no call.
 * The thread has all signals blocked, uses no processor time while nothing is under way, does not call the program's
 * functions, and has ended after MPI_Finalize. */
#include "check.h"
#include <dirent.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum { N = 8192 };

static pthread_t main_thread;
static int elsewhere;

static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    elsewhere += !pthread_equal(pthread_self(), main_thread);
    for (int i = 0; i < *length; i++)
        ((double *)inout)[i] += ((double *)in)[i];
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void sleep_for(double time)
{
    double end = seconds() + time;
    while (seconds() < end)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
}

/* The number of threads named `progress`; the signals that the last one blocks, and its time in ticks. */
static int threads(unsigned long *blocked, unsigned long *ticks)
{
    int found = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;) {
        char name[300], line[512];
        snprintf(name, sizeof name, "/proc/self/task/%s/comm", task->d_name);
        FILE *file = fopen(name, "r");
        int is = file != NULL && fgets(line, sizeof line, file) != NULL && strcmp(line, "progress\n") == 0;
        if (file != NULL)
            fclose(file);
        if (!is)
            continue;
        found++;
        snprintf(name, sizeof name, "/proc/self/task/%s/status", task->d_name);
        file = fopen(name, "r");
        while (file != NULL && fgets(line, sizeof line, file) != NULL)
            sscanf(line, "SigBlk: %lx", blocked);
        if (file != NULL)
            fclose(file);
        snprintf(name, sizeof name, "/proc/self/task/%s/stat", task->d_name);
        file = fopen(name, "r");
        unsigned long user = 0, kernel = 0;
        if (file != NULL && fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                                   &kernel) == 2)
            *ticks = user + kernel;
        if (file != NULL)
            fclose(file);
    }
    if (tasks != NULL)
        closedir(tasks);
    return found;
}

/* One process sleeps for a second after its start; the others need its part. */
static void moves_on(MPI_Op op, int may_take_long)
{
    static double in[N], out[N];
    MPI_Request request;
    for (int sleeper = 0; sleeper < size && sleeper < 3; sleeper++) {
        for (int i = 0; i < N; i++) {
            in[i] = i + rank;
            out[i] = -1;
        }
        ok(MPI_Barrier(MPI_COMM_WORLD));
        double start = seconds();
        ok(MPI_Iallreduce(in, out, N, MPI_DOUBLE, op, MPI_COMM_WORLD, &request));
        if (rank == sleeper)
            sleep_for(1);
        ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check(may_take_long || rank == sleeper || seconds() - start < 0.8);
        for (int i = 0; i < N; i++)
            check_equal(out[i], size * i + size * (size - 1) / 2);
    }
}

int main(int argc, char **argv)
{
    unsigned long blocked = 0, before = 0, after = 0;
    MPI_Op op;
    int level = -1;
    begin(&argc, &argv);
    main_thread = pthread_self();
    check_equal(threads(&blocked, &before), 0);
    MPI_Query_thread(&level);
    check_equal(level, MPI_THREAD_SINGLE);
    moves_on(MPI_SUM, 0);
    ok(MPI_Query_thread(&level));
    check_equal(level, MPI_THREAD_SINGLE);

    check_equal(threads(&blocked, &before), 1);
    /* All but those that cannot be blocked, and those of the C library. */
    for (int signal = 1; signal < 32; signal++)
        check(signal == 9 || signal == 19 || (blocked >> (signal - 1) & 1));
    sleep_for(0.5);
    threads(&blocked, &after);
    check(after - before <= 2);

    ok(MPI_Op_create(add, 1, &op));
    moves_on(op, 1);
    check_equal(elsewhere, 0);
    ok(MPI_Op_free(&op));

    /* Messages of the program beside an operation that waits for the others. */
    for (int round = 0; round < 200; round++) {
        MPI_Request request;
        int value = round, got = -1;
        ok(MPI_Ibarrier(MPI_COMM_WORLD, &request));
        ok(MPI_Sendrecv(&value, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, (rank + size - 1) % size, 0,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        check_equal(got, round);
        ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    int failed = wrong;
    MPI_Allreduce(&failed, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    if (threads(&blocked, &after) != 0) {
        fprintf(stderr, "rank %d: the thread is left\n", rank);
        return 1;
    }
    if (rank == 0 && wrong == 0)
        printf("No Errors\n");
    return wrong != 0;
}
