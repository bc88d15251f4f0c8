/* Every rank prints a thousand long lines, some of them in two parts, and none may be mixed with another rank's. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int line = 0; line < 1000; line++) {
        printf("%d %d ", rank, line);
        if (line % 10 == 0)
            fflush(stdout);
        for (int i = 0; i < 60; i++)
            putchar('0' + rank);
        putchar('\n');
        if (line % 7 == 0)
            fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
