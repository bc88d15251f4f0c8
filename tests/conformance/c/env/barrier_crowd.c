/* More ranks than cores: start, a thousand barriers, a sum of the ranks, end. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int barriers = argc > 1 ? atoi(argv[1]) : 1000;
    for (int i = 0; i < barriers; i++)
        ok(MPI_Barrier(MPI_COMM_WORLD));
    int sum = -1;
    ok(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    check_equal(sum, size * (size - 1) / 2);
    return finish();
}
