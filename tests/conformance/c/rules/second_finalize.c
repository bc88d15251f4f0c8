/* A second MPI_Finalize, or one before MPI_Init, is an error that ends the program with a text. With an
 * argument MPI was never initialised. */
#include "check.h"

int main(int argc, char **argv)
{
    if (argc == 1) {
        begin(&argc, &argv);
        MPI_Finalize();
    }
    MPI_Finalize();
    return 0;
}
