/* A PMPI tool: counts the messages that each process sends with MPI_Send, and their bytes. docs/tools.md explains it.
 *
 *   mpicc -shared -fPIC send_count.c -o libsend_count.so
 *   mpiexec -n 4 env LD_PRELOAD=./libsend_count.so ./program
 */
#include <mpi.h>
#include <stdio.h>

static long messages, bytes;

/* Called by the program. The function of the library has the same name with a P in front. */
int MPI_Send(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm)
{
    int size;
    PMPI_Type_size(type, &size);
    messages++;
    bytes += (long)count * size;
    return PMPI_Send(buffer, count, type, destination, tag, comm);
}

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "send_count: rank %d sent %ld messages, %ld bytes\n", rank, messages, bytes);
    return PMPI_Finalize();
}
