/* Gather, scatter, allgather and alltoall put every block in its place, for every root and at all sizes. */
#include "check.h"

enum { LARGEST = 50000 };

static unsigned char *block(unsigned char *blocks, int index, int length)
{
    return blocks + (size_t)index * (size_t)length;
}

int main(int argc, char **argv)
{
    static const int lengths[] = {0, 1, 24, 3000, LARGEST};
    begin(&argc, &argv);
    unsigned char *mine = malloc(LARGEST), *all = malloc((size_t)size * LARGEST), *out = malloc((size_t)size * LARGEST);
    for (int s = 0; s < 5; s++) {
        int length = lengths[s];
        for (int root = 0; root < size; root++) {
            fill(mine, (size_t)length, rank);
            memset(all, 0, (size_t)size * (size_t)length);
            ok(MPI_Gather(mine, length, MPI_BYTE, all, length, MPI_BYTE, root, MPI_COMM_WORLD));
            for (int i = 0; i < size && rank == root; i++)
                check(filled(block(all, i, length), (size_t)length, i));
            if (rank == root)
                for (int i = 0; i < size; i++)
                    fill(block(all, i, length), (size_t)length, 50 + i);
            memset(mine, 0, (size_t)length);
            ok(MPI_Scatter(all, length, MPI_BYTE, mine, length, MPI_BYTE, root, MPI_COMM_WORLD));
            check(filled(mine, (size_t)length, 50 + rank));
        }
        fill(mine, (size_t)length, rank);
        memset(all, 0, (size_t)size * (size_t)length);
        ok(MPI_Allgather(mine, length, MPI_BYTE, all, length, MPI_BYTE, MPI_COMM_WORLD));
        for (int i = 0; i < size; i++)
            check(filled(block(all, i, length), (size_t)length, i));
        for (int i = 0; i < size; i++)
            fill(block(out, i, length), (size_t)length, rank * 20 + i);
        memset(all, 0, (size_t)size * (size_t)length);
        ok(MPI_Alltoall(out, length, MPI_BYTE, all, length, MPI_BYTE, MPI_COMM_WORLD));
        for (int i = 0; i < size; i++)
            check(filled(block(all, i, length), (size_t)length, i * 20 + rank));
    }
    free(mine), free(all), free(out);
    return finish();
}
