/* Functions for the programs about files: a unique file name, and access to files without the library. */
#ifndef FERRUM_FILE_H
#define FERRUM_FILE_H

#include "check.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME 256

/* A name, the same in all processes of the job. */
static inline char *name_of(char *name, const char *what)
{
    int pid = (int)getpid();
    const char *folder = getenv("TMPDIR");
    MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, NAME, "%s/ferrum-file-%d-%s", folder ? folder : "/tmp", pid, what);
    return name;
}

static inline int exists(const char *name)
{
    struct stat facts;
    return lstat(name, &facts) == 0;
}

static inline long long size_of(const char *name)
{
    struct stat facts;
    return stat(name, &facts) == 0 ? (long long)facts.st_size : -1;
}

/* Creates a file with these bytes, without the library. */
static inline void make(const char *name, const void *data, size_t length)
{
    FILE *file = fopen(name, "wb");
    check(file != NULL && fwrite(data, 1, length, file) == length);
    if (file)
        fclose(file);
}

/* The text of the error code contains this string. */
static inline int has(int code, const char *part)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    if (strstr(text, part))
        return 1;
    fprintf(stderr, "rank %d: \"%s\" does not say \"%s\"\n", rank, text, part);
    return 0;
}

/* Deletes the program's files after all processes have used them. */
static inline void remove_all(const char *name)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        unlink(name);
    MPI_Barrier(MPI_COMM_WORLD);
}

#endif
