/* A program's own MPI_Send, MPI_Comm_rank and so on replace the library's, which have the PMPI names: each call runs
 * once. */
#include "check.h"

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
    int value = 0;
    begin(&argc, &argv);
    for (int i = 0; i < 10; i++) {
        if (rank == 0)
            ok(MPI_Send(&i, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
        else if (rank == 1)
            ok(MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        ok(MPI_Barrier(MPI_COMM_WORLD));
    }
    check_equal(sends, rank == 0 ? 10 : 0);
    check_equal(receives, rank == 1 ? 10 : 0);
    check_equal(barriers, 10);
    return finish();
}
