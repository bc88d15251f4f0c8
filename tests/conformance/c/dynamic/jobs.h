/* Programs of several jobs: one job starts others by the launcher that has started it, and passes them arguments. */
#ifndef FERRUM_JOBS_H
#define FERRUM_JOBS_H

#include "check.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

/* The launcher: the executable of the parent process. */
static inline const char *launcher(void)
{
    static char path[4096];
    char link[64];
    snprintf(link, sizeof link, "/proc/%ld/exe", (long)getppid());
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = 0;
    return path;
}

/* Starts this program again as another job of `ranks` processes, or alone without a launcher if that is 0, with these
 * arguments. */
static inline pid_t start_job(int ranks, const char *program, const char *role, const char *text)
{
    static const char *const place[] = {"FERRUM_JOB_FD", "FERRUM_JOB_ID", "FERRUM_RANK",
                                        "FERRUM_SIZE",   "FERRUM_APPNUM", "PMI_FD", "PMI_RANK", "PMI_SIZE"};
    char number[16];
    const char *by = launcher();
    snprintf(number, sizeof number, "%d", ranks);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        for (size_t i = 0; i < sizeof place / sizeof *place; i++)
            unsetenv(place[i]);
        if (ranks > 0)
            execl(by, by, "-n", number, program, role, text, (char *)NULL);
        else
            execl(program, program, role, text, (char *)NULL);
        _exit(127);
    }
    check(child > 0);
    return child;
}

/* Waits for a job; it must end well. */
static inline void end_job(pid_t child)
{
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    check_equal(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}

/* The verdict of a job that another one has started: silent if it is good. */
static inline int finish_silently(void)
{
    int total = 0;
    MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return total != 0;
}

/* Each process sends words of several lengths to each of the other group, which is `mine` among the jobs. */
static inline void exchange_with_all(MPI_Comm inter, int mine)
{
    static const int lengths[] = {1, 8, 1000, 60000, 700000};
    int remote = 0, own = 0;
    ok(MPI_Comm_remote_size(inter, &remote));
    ok(MPI_Comm_rank(inter, &own));
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        int length = lengths[l];
        MPI_Request *requests = malloc(2 * remote * sizeof *requests);
        char **buffers = malloc(2 * remote * sizeof *buffers);
        for (int i = 0; i < 2 * remote; i++)
            buffers[i] = malloc(length);
        for (int peer = 0; peer < remote; peer++) {
            fill(buffers[peer], length, mine * 1000 + own * 30 + peer);
            ok(MPI_Irecv(buffers[remote + peer], length, MPI_CHAR, peer, 3, inter, &requests[remote + peer]));
            ok(MPI_Isend(buffers[peer], length, MPI_CHAR, peer, 3, inter, &requests[peer]));
        }
        ok(MPI_Waitall(2 * remote, requests, MPI_STATUSES_IGNORE));
        for (int peer = 0; peer < remote; peer++)
            check(filled(buffers[remote + peer], length, !mine * 1000 + peer * 30 + own));
        for (int i = 0; i < 2 * remote; i++)
            free(buffers[i]);
        free(buffers);
        free(requests);
    }
}

#endif
