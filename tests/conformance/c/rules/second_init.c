/* A second initialisation is an error that ends the program with a text, by either routine. The argument selects the
 * second one. */
#include "check.h"

int main(int argc, char **argv)
{
    int provided;
    begin(&argc, &argv);
    if (argc > 1 && strcmp(argv[1], "thread") == 0)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
