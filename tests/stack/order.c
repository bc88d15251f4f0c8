/* An unmodified PMPI tool, built with different names (NAME): prints its name around MPI_Init, MPI_Barrier and
 * MPI_Finalize, and counts barriers. It checks that a call of MPI_Comm_size inside a wrapper begins at the first tool,
 * and that PMPI_Barrier through a pointer in constant data and by dlsym is the same function. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int barriers, sizes;
static int (*const constant)(MPI_Comm) = PMPI_Barrier;

int MPI_Init(int *argc, char ***argv)
{
    fprintf(stderr, "%s before MPI_Init\n", NAME);
    int error = PMPI_Init(argc, argv);
    fprintf(stderr, "%s after MPI_Init\n", NAME);
    return error;
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    sizes++;
    return PMPI_Comm_size(comm, size);
}

int MPI_Barrier(MPI_Comm comm)
{
    int size;
    fprintf(stderr, "%s before MPI_Barrier\n", NAME);
    if (barriers++ == 0)
        MPI_Comm_size(comm, &size);
    int (*found)(MPI_Comm) = (int (*)(MPI_Comm))dlsym(RTLD_DEFAULT, "PMPI_Barrier");
    if (found != constant || found != PMPI_Barrier)
        fprintf(stderr, "%s: PMPI_Barrier is not one function\n", NAME);
    int error = found(comm);
    fprintf(stderr, "%s after MPI_Barrier\n", NAME);
    return error;
}

int MPI_Finalize(void)
{
    fprintf(stderr, "%s at MPI_Finalize: %d barriers, %d sizes\n", NAME, barriers, sizes);
    int error = PMPI_Finalize();
    fprintf(stderr, "%s after MPI_Finalize\n", NAME);
    return error;
}
