/* Closes every descriptor after MPI_Init, uses their numbers for files of its own, and makes so many calls that a
 * timeline grows. Its files stay as they are. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CALLS = 100000, LAST = 64 };

int main(int argc, char **argv)
{
    int flag, untouched = 1;
    MPI_Init(&argc, &argv);
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    for (int fd = 3; fd < LAST; fd++)
        if (open(argv[1], O_RDWR | O_CREAT, 0600) != fd || ftruncate(fd, 100) != 0)
            return 1;
    for (int i = 0; i < CALLS; i++)
        MPI_Initialized(&flag);
    for (int fd = 3; fd < LAST; fd++) {
        struct stat status;
        char bytes[100];
        untouched &= fstat(fd, &status) == 0 && status.st_size == 100 && pread(fd, bytes, 100, 0) == 100;
        for (int i = 0; i < 100; i++)
            untouched &= bytes[i] == 0;
    }
    MPI_Finalize();
    printf("closer: files %s\n", untouched ? "untouched" : "written");
    return !untouched;
}
