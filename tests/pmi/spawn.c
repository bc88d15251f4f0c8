/* Every process of the first job spawns two more together, which send their ranks back; then both merge. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Comm parent, children, both;
    int rank, size, sum = 0, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        MPI_Reduce(&rank, NULL, 1, MPI_INT, MPI_SUM, 0, parent);
        MPI_Intercomm_merge(parent, 1, &both);
    } else {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
        MPI_Reduce(NULL, &sum, 1, MPI_INT, MPI_SUM, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, children);
        MPI_Intercomm_merge(children, 0, &both);
    }
    MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, both);
    MPI_Comm_size(both, &size);
    if (parent == MPI_COMM_NULL && rank == 0)
        printf("spawned sum %d, both size %d sum %d\n", sum, size, all);
    MPI_Comm_disconnect(&both);
    if (parent != MPI_COMM_NULL)
        MPI_Comm_disconnect(&parent);
    else
        MPI_Comm_disconnect(&children);
    MPI_Finalize();
    return 0;
}
