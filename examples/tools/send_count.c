/* A PMPI tool: counts the messages that each process sends with MPI_Send, their bytes, and the time. docs/tools.md
 * explains it.
 *
 *   mpicc -shared -fPIC send_count.c -o libsend_count.so
 *   mpiexec -n 4 env LD_PRELOAD=./libsend_count.so ./program
 */
#include <mpi.h>
#include <stdio.h>

static long messages, bytes;
static double seconds;

/* Called by the program. The function of the library has the same name with a P in front. */
int MPI_Send(const void *buffer, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm)
{
    double start = PMPI_Wtime();
    int size, error = PMPI_Send(buffer, count, type, destination, tag, comm);
    seconds += PMPI_Wtime() - start;
    PMPI_Type_size(type, &size);
    messages++;
    bytes += (long)count * size;
    return error;
}

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "send_count: rank %d sent %ld messages, %ld bytes in %.1f us\n", rank, messages, bytes,
            1e6 * seconds);
    return PMPI_Finalize();
}
