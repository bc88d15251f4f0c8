/* MPI_Initialized and MPI_Finalized can be called at any time, and report whether MPI was initialized and finalized. */
#include "check.h"

static void expect(int initialized, int finalized)
{
    int flag = -1;
    MPI_Initialized(&flag);
    check_equal(!!flag, initialized);
    MPI_Finalized(&flag);
    check_equal(!!flag, finalized);
}

int main(int argc, char **argv)
{
    expect(0, 0);
    MPI_Init(&argc, &argv);
    expect(1, 0);
    MPI_Finalize();
    expect(1, 1);
    return verdict(wrong);
}
