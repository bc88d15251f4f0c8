/* MPI_Comm_join with a process that is killed before it joins, while it joins, or after it has joined: the call or the
 * next operation is an error, and nothing waits for ever. */
#include "jobs.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

enum { TIMES = 8 };

static useconds_t delay;

static void *kill_later(void *unused)
{
    usleep(delay);
    kill(getpid(), SIGKILL);
    return NULL;
}

/* When the process is killed; other values are microseconds after the beginning of its call. */
enum { BEFORE = -2, AFTER = -1 };

static void die(int fd, int when)
{
    MPI_Comm inter;
    pthread_t killer;
    char byte = 'r';
    check_equal(write(fd, &byte, 1), 1);
    check_equal(read(fd, &byte, 1), 1);
    if (when == BEFORE)
        raise(SIGKILL);
    if (when >= 0) {
        delay = (useconds_t)when;
        check_equal(pthread_create(&killer, NULL, kill_later, NULL), 0);
    }
    MPI_Comm_join(fd, &inter);
    raise(SIGKILL);
}

/* Joins a process that dies; if `waits`, only after it has. A byte each way comes before, so MPI has started there. */
static void join_with(const char *program, int when, int waits)
{
    int ends[2], status = -1, number = 0, class;
    char byte = 0, end[16], role[16];
    MPI_Comm inter = MPI_COMM_NULL;
    check_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    check_equal(fcntl(ends[0], F_SETFD, FD_CLOEXEC), 0);
    snprintf(end, sizeof end, "%d", ends[1]);
    snprintf(role, sizeof role, "%d", when);
    pid_t child = start_job(0, program, role, end);
    close(ends[1]);
    check_equal(read(ends[0], &byte, 1), 1);
    check_equal(write(ends[0], &byte, 1), 1);
    if (waits) {
        check_equal(waitpid(child, &status, 0), child);
        check(WIFSIGNALED(status));
    }
    double start = MPI_Wtime();
    class = class_of(MPI_Comm_join(ends[0], &inter));
    if (class == MPI_SUCCESS) {
        check(when != BEFORE && !waits);
        check(inter != MPI_COMM_NULL);
        check_class(MPI_Recv(&number, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
        check_class(MPI_Barrier(inter), MPI_ERR_PROC_ABORTED);
        ok(MPI_Comm_disconnect(&inter));
    } else {
        check(inter == MPI_COMM_NULL);
        check_equal(class, MPI_ERR_PROC_ABORTED);
    }
    check(MPI_Wtime() - start < 20);
    close(ends[0]);
    if (!waits) {
        check_equal(waitpid(child, &status, 0), child);
        check(WIFSIGNALED(status));
    }
}

int main(int argc, char **argv)
{
    begin_threads(&argc, &argv, MPI_THREAD_FUNNELED);
    return_errors();
    if (argc > 2)
        die(atoi(argv[2]), atoi(argv[1]));
    join_with(argv[0], BEFORE, 1);
    join_with(argv[0], BEFORE, 0);
    join_with(argv[0], AFTER, 0);
    for (int i = 0; i < TIMES; i++)
        join_with(argv[0], 1 << 2 * i, i % 2);
    /* Those that are left go on. */
    ok(MPI_Barrier(MPI_COMM_WORLD));
    return finish();
}
