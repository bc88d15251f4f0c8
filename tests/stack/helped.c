/* A tool that uses `helper.c` at each barrier, with MIDDLE through `middle.c`, and has an own MPI_Comm_size. NAME
 * is its name. */
#include <mpi.h>
#include <stdio.h>

#ifdef MIDDLE
#define helper_size middle_size
#endif
int helper_size(MPI_Comm comm);
extern int helper_calls;
static int barriers, sizes;

int MPI_Barrier(MPI_Comm comm)
{
    barriers++;
    if (helper_size(comm) < 1)
        fprintf(stderr, "helped: a size is wrong\n");
    return PMPI_Barrier(comm);
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    sizes++;
    return PMPI_Comm_size(comm, size);
}

int MPI_Finalize(void)
{
    fprintf(stderr, "%s: %d barriers, %d calls of the helper, %d sizes\n", NAME, barriers, helper_calls, sizes);
    return PMPI_Finalize();
}
