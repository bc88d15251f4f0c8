/* A program that uses the cache of cache.c, ten times the same eight keys. It does not use the cache's variables. */
#include <mpi.h>
#include <stdio.h>

double cache_get(int key);

int main(int argc, char **argv)
{
    double sum = 0, all;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 80; i++)
        sum += cache_get(i % 8);
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sum %.3f\n", all);
    MPI_Finalize();
    return 0;
}
