/* Prints results that the tool typed.c changes. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    int code = MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("changed: code %s, time %s\n", code == MPI_ERR_COMM ? "changed" : "own",
           MPI_Wtime() == 42.5 ? "changed" : "own");
    MPI_Finalize();
    return 0;
}
