/* Receives from any source keep the order of each sender, and the status holds the source. */
#include "check.h"

enum { EACH = 500 };

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (rank == 0) {
        int *next = calloc((size_t)size, sizeof *next);
        for (int i = 0; i < EACH * (size - 1); i++) {
            int value = -1;
            MPI_Status status;
            ok(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
            check(status.MPI_SOURCE > 0 && status.MPI_SOURCE < size);
            check_equal(value, next[status.MPI_SOURCE]);
            check_equal(status.MPI_TAG, value % 7);
            next[status.MPI_SOURCE]++;
        }
    } else {
        for (int i = 0; i < EACH; i++)
            ok(MPI_Send(&i, 1, MPI_INT, 0, i % 7, MPI_COMM_WORLD));
    }
    return finish();
}
