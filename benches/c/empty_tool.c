/* A PMPI tool that only passes MPI_Send on; with -DTYPED one with the typed interface whose functions are empty. */
#ifdef TYPED
#include <ferrum_stack.h>

static void empty(void *state, ferrum_call *call)
{
    (void)state, (void)call;
}

const ferrum_interceptor ferrum_interceptor_v1 = {sizeof(ferrum_interceptor), NULL, empty, empty, NULL};
#else
#include <mpi.h>

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}
#endif
