/* A barrier after MPI_Finalize is an error that ends the program with a text, not a crash. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Finalize();
    MPI_Barrier(MPI_COMM_WORLD);
    printf("not reached\n");
    return 0;
}
