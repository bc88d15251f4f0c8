/* A tool in C that counts calls and the constants among their arguments. */
#include <mpi.h>

static int calls[6];

int calls_of(int place)
{
    return calls[place];
}

int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    calls[0]++;
    return PMPI_Irecv(buf, count, datatype, source, tag, comm, request);
}

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    calls[1]++;
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    calls[2] += status == MPI_STATUS_IGNORE;
    return PMPI_Wait(request, status);
}

int MPI_Type_create_hvector_c(
    MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    calls[3]++;
    return PMPI_Type_create_hvector_c(count, blocklength, stride, oldtype, newtype);
}

int MPI_Type_create_struct_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
    const MPI_Count array_of_displacements[], const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    calls[3]++;
    return PMPI_Type_create_struct_c(count, array_of_blocklengths, array_of_displacements, array_of_types, newtype);
}

int MPI_Type_commit(MPI_Datatype *datatype)
{
    calls[3]++;
    return PMPI_Type_commit(datatype);
}

int MPI_Type_free(MPI_Datatype *datatype)
{
    calls[3]++;
    return PMPI_Type_free(datatype);
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    calls[4]++;
    return PMPI_Bcast(buffer, count, datatype, root, comm);
}

int MPI_Allreduce(
    const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    calls[5] += sendbuf == MPI_IN_PLACE;
    return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}
