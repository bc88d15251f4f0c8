/* A tool that accepts collective operations with a root on intercommunicators, and does nothing for them: the tools in
 * front of it see calls that succeed, whatever the library has of them. */
#include <mpi.h>

static int is_inter(MPI_Comm comm)
{
    int flag = 0;
    PMPI_Comm_test_inter(comm, &flag);
    return flag;
}

int MPI_Gather(const void *from, int sends, MPI_Datatype sent, void *to, int receives, MPI_Datatype received, int root,
               MPI_Comm comm)
{
    return is_inter(comm) ? MPI_SUCCESS : PMPI_Gather(from, sends, sent, to, receives, received, root, comm);
}

int MPI_Scatter(const void *from, int sends, MPI_Datatype sent, void *to, int receives, MPI_Datatype received, int root,
                MPI_Comm comm)
{
    return is_inter(comm) ? MPI_SUCCESS : PMPI_Scatter(from, sends, sent, to, receives, received, root, comm);
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    return is_inter(comm) ? MPI_SUCCESS : PMPI_Bcast(buffer, count, type, root, comm);
}

int MPI_Reduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    return is_inter(comm) ? MPI_SUCCESS : PMPI_Reduce(from, to, count, type, op, root, comm);
}
