/* Every rank of MPI_COMM_WORLD from 0 to size-1 occurs once; MPI_COMM_SELF has this process alone. */
#include "check.h"

int main(int argc, char **argv)
{
    int alone = -1, one = -1;
    begin(&argc, &argv);
    ok(MPI_Comm_rank(MPI_COMM_SELF, &alone));
    ok(MPI_Comm_size(MPI_COMM_SELF, &one));
    check_equal(alone, 0);
    check_equal(one, 1);
    int *all = malloc((size_t)size * sizeof *all);
    ok(MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++)
        check_equal(all[i], i);
    free(all);
    return finish();
}
