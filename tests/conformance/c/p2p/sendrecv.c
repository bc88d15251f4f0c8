/* MPI_Sendrecv shifts in a ring and to the own process without deadlock at all sizes, and MPI_Sendrecv_replace does
 * it in place. */
#include "check.h"

enum { LARGEST = 600000 };

int main(int argc, char **argv)
{
    static const int lengths[] = {0, 1, 100, 9000, LARGEST};
    static unsigned char out[LARGEST], in[LARGEST];
    begin(&argc, &argv);
    for (int shift = 0; shift < size; shift++)
        for (int s = 0; s < 5; s++) {
            int length = lengths[s], count = -1, to = (rank + shift) % size, from = (rank + size - shift) % size;
            MPI_Status status;
            fill(out, (size_t)length, rank);
            memset(in, 0, sizeof in);
            ok(MPI_Sendrecv(out, length, MPI_BYTE, to, rank, in, LARGEST, MPI_BYTE, from, from, MPI_COMM_WORLD,
                            &status));
            check(filled(in, (size_t)length, from));
            check_equal(status.MPI_SOURCE, from);
            check_equal(status.MPI_TAG, from);
            MPI_Get_count(&status, MPI_BYTE, &count);
            check_equal(count, length);
            ok(MPI_Sendrecv_replace(out, length, MPI_BYTE, to, 5, from, 5, MPI_COMM_WORLD, &status));
            check(filled(out, (size_t)length, from));
        }
    return finish();
}
