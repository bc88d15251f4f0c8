/* A program that is not the first of its process, or not the process that mpiexec has started.
 *   again exec:  calls a function of MPI and executes itself.
 *   again fork:  calls none, and starts itself as a child.
 *   again lost:  puts another file in the place of every descriptor and executes itself. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int child(char **argv)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        execl(argv[0], argv[0], "child", (char *)0);
        _exit(127);
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int lost(char **argv)
{
    struct stat status;
    int other = open("lost.file", O_RDWR | O_CREAT, 0600);
    if (ftruncate(other, 1 << 20) != 0)
        return 1;
    for (int fd = 3; fd < 64; fd++)
        if (fd != other && fstat(fd, &status) == 0)
            dup2(other, fd);
    execl(argv[0], argv[0], "other", (char *)0);
    return 127;
}

int main(int argc, char **argv)
{
    int flag;
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "exec") == 0) {
        MPI_Initialized(&flag);
        execl(argv[0], argv[0], "image", (char *)0);
        return 127;
    }
    if (strcmp(how, "fork") == 0)
        return child(argv);
    if (strcmp(how, "lost") == 0)
        return lost(argv);
    if (strcmp(how, "other") == 0) {
        /* Without its descriptors this process cannot join the job; it has the library, and calls it. */
        char bytes[4096];
        int found, other = open("lost.file", O_RDONLY), same = 1;
        MPI_Initialized(&flag);
        while ((found = (int)read(other, bytes, sizeof bytes)) > 0)
            while (found > 0)
                same &= bytes[--found] == 0;
        printf("again: the file is %s\n", same ? "untouched" : "written");
        return !same;
    }
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    printf("again: right\n");
    return 0;
}
