/* A library that several tools use: it calls PMPI_Comm_size for its caller, and counts these calls. */
#include <mpi.h>

int helper_calls;

int helper_size(MPI_Comm comm)
{
    int size = -1;
    helper_calls++;
    PMPI_Comm_size(comm, &size);
    return size;
}
