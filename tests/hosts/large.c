/* Many ranks on many hosts: a barrier, sums and an exchange of all with all, each result checked. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 1000, ROUNDS = 3 };

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long *in = malloc((WORDS + (size_t)size) * sizeof *in), *out = malloc((WORDS + (size_t)size) * sizeof *out);
    if (!in || !out)
        MPI_Abort(MPI_COMM_WORLD, 3);
    for (int round = 1; round <= ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < WORDS; i++)
            out[i] = (long)rank * round + i;
        MPI_Allreduce(out, in, WORDS, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < WORDS; i++)
            if (in[i] != (long)size * (size - 1) / 2 * round + (long)size * i) {
                fprintf(stderr, "rank %d: sum %d is %ld\n", rank, i, in[i]);
                MPI_Abort(MPI_COMM_WORLD, 4);
            }
        for (int to = 0; to < size; to++)
            out[to] = (long)rank * 100000 + to * 10 + round;
        MPI_Alltoall(out, 1, MPI_LONG, in, 1, MPI_LONG, MPI_COMM_WORLD);
        for (int from = 0; from < size; from++)
            if (in[from] != (long)from * 100000 + rank * 10 + round) {
                fprintf(stderr, "rank %d: %ld came from %d\n", rank, in[from], from);
                MPI_Abort(MPI_COMM_WORLD, 5);
            }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks: all right\n", size);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
