/* The status that a rank returns from main after MPI_Finalize is the launcher's. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Finalize();
    return rank == 1 ? 7 : 0;
}
