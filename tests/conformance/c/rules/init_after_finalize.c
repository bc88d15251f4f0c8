/* MPI cannot be initialised again after MPI_Finalize: an error that ends the program with a text. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Finalize();
    MPI_Init(&argc, &argv);
    return 0;
}
