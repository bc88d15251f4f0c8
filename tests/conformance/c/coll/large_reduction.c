/* Reductions of millions of elements have correct results. */
#include "check.h"

enum { N = 1500000 };

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    double *mine = malloc(N * sizeof *mine), *all = malloc(N * sizeof *all);
    for (int i = 0; i < N; i++)
        mine[i] = rank + i;
    ok(MPI_Allreduce(mine, all, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < N; i++)
        check(all[i] == (double)size * i + size * (size - 1) / 2);
    memset(all, 0, N * sizeof *all);
    ok(MPI_Reduce(mine, all, N, MPI_DOUBLE, MPI_MIN, size - 1, MPI_COMM_WORLD));
    for (int i = 0; i < N && rank == size - 1; i++)
        check(all[i] == i);
    free(mine), free(all);
    return finish();
}
