/* Another job, started by this process under the same launcher's program. */
#ifndef FERRUM_OTHER_JOB_H
#define FERRUM_OTHER_JOB_H

#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

/* Starts this program again, with so many processes and these two arguments; returns the process id of its mpiexec. */
static inline pid_t start_other_job(const char *program, const char *ranks, const char *first, const char *second)
{
    char launcher[64];
    snprintf(launcher, sizeof launcher, "/proc/%ld/exe", (long)getppid());
    fflush(NULL);
    pid_t made = fork();
    if (made == 0) {
        execl(launcher, "mpiexec", "-n", ranks, program, first, second, (char *)NULL);
        _exit(127);
    }
    check(made > 0);
    return made;
}

/* The job has ended well. */
static inline void other_job_ends(pid_t job)
{
    int status = -1;
    check(waitpid(job, &status, 0) == job);
    check(WIFEXITED(status));
    check_equal(WEXITSTATUS(status), 0);
}

#endif
