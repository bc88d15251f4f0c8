/* How a program of these tests reports to its test that a step is reached: by a file `upSTEP` in a folder. */
#ifndef STEP_H
#define STEP_H

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static const char *folder;

static void reach(int step)
{
    char name[4096];
    snprintf(name, sizeof name, "%s/up%d", folder, step);
    int file = open(name, O_CREAT | O_WRONLY, 0600);
    if (file < 0)
        MPI_Abort(MPI_COMM_WORLD, 9);
    close(file);
}

#endif
