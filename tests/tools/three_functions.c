/* A program with three functions of its own in front of the library's; with ONE only a call of MPI_Wtime, with NONE
 * none. */
#include <mpi.h>
#include <stdio.h>

#if defined NONE
int main(void)
{
    return printf("none\n") < 0;
}
#elif defined ONE
int main(void)
{
    return printf("%f\n", MPI_Wtime()) < 0;
}
#else
static int sends, receives, barriers;

int MPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(data, count, type, to, tag, comm);
}

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    receives++;
    return PMPI_Recv(data, count, type, from, tag, comm, status);
}

int MPI_Barrier(MPI_Comm comm)
{
    barriers++;
    return PMPI_Barrier(comm);
}

int main(int argc, char **argv)
{
    int rank, value = 7, sums[3];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    int counts[3] = {sends, receives, barriers};
    MPI_Reduce(counts, sums, 3, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("send %d recv %d barrier %d\n", sums[0], sums[1], sums[2]);
    return MPI_Finalize();
}
#endif
