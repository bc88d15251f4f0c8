/* MPI_Comm_compare distinguishes the same communicator, a duplicate, and another group. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Comm other;
    int result = -1;
    begin(&argc, &argv);
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    ok(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result));
    check_equal(result, MPI_IDENT);
    ok(MPI_Comm_compare(MPI_COMM_WORLD, other, &result));
    check_equal(result, MPI_CONGRUENT);
    ok(MPI_Comm_compare(MPI_COMM_SELF, other, &result));
    check_equal(result, size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL);
    ok(MPI_Comm_free(&other));
    return finish();
}
