/* Thousands of operations can be pending at once, large ones too, between all pairs of ranks. */
#include "check.h"

enum { SMALL = 2000, LARGE = 20, LENGTH = 150000 };

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int n = 0, total = 2 * size * (SMALL + LARGE);
    MPI_Request *requests = malloc((size_t)total * sizeof *requests);
    int *in = malloc((size_t)size * SMALL * sizeof *in), *out = malloc(SMALL * sizeof *out);
    unsigned char *big_in = malloc((size_t)size * LARGE * LENGTH), *big_out = malloc(LENGTH);
    fill(big_out, LENGTH, rank);
    for (int i = 0; i < SMALL; i++)
        out[i] = rank * SMALL + i;
    for (int peer = 0; peer < size; peer++)
        for (int i = 0; i < LARGE; i++)
            ok(MPI_Irecv(big_in + (size_t)(peer * LARGE + i) * LENGTH, LENGTH, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
                         &requests[n++]));
    for (int i = 0; i < SMALL; i++)
        for (int peer = 0; peer < size; peer++)
            ok(MPI_Isend(&out[i], 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[n++]));
    for (int peer = 0; peer < size; peer++)
        for (int i = 0; i < LARGE; i++)
            ok(MPI_Isend(big_out, LENGTH, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[n++]));
    for (int peer = size - 1; peer >= 0; peer--)
        for (int i = 0; i < SMALL; i++)
            ok(MPI_Irecv(&in[peer * SMALL + i], 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[n++]));
    check_equal(n, total);
    ok(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE));
    for (int peer = 0; peer < size; peer++) {
        for (int i = 0; i < SMALL; i++)
            check_equal(in[peer * SMALL + i], peer * SMALL + i);
        for (int i = 0; i < LARGE; i++)
            check(filled(big_in + (size_t)(peer * LARGE + i) * LENGTH, LENGTH, peer));
    }
    free(requests), free(in), free(out), free(big_in), free(big_out);
    return finish();
}
