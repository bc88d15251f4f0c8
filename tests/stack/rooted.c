/* Collective operations with a root on an intercommunicator of even and odd ranks, the root being world rank 0. The
 * counts that are not significant differ from those that are. */
#include <mpi.h>

enum { NOT_SIGNIFICANT = 16 };

int main(int argc, char **argv)
{
    int rank, root, from[64] = {0}, to[64];
    MPI_Comm half, inter;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter);
    root = rank == 0 ? MPI_ROOT : rank % 2 == 0 ? MPI_PROC_NULL : 0;
    int sends = rank % 2 ? 3 : NOT_SIGNIFICANT, receives = rank == 0 ? 3 : NOT_SIGNIFICANT;
    MPI_Gather(from, sends, MPI_INT, to, receives, MPI_INT, root, inter);
    MPI_Scatter(from, receives, MPI_INT, to, sends, MPI_INT, root, inter);
    MPI_Bcast(to, rank == 2 ? NOT_SIGNIFICANT : 5, MPI_INT, root, inter);
    MPI_Reduce(from, to, rank == 2 ? NOT_SIGNIFICANT : 7, MPI_INT, MPI_SUM, root, inter);
    MPI_Comm_free(&inter);
    MPI_Scatter(from, rank == 1 ? 2 : NOT_SIGNIFICANT, MPI_INT, to, 2, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
