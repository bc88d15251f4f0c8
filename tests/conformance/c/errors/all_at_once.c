/* When many processes have a fatal error at once, one report is printed. */
#include "check.h"

int main(int argc, char **argv)
{
    int word = 0;
    begin(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&word, 1, MPI_INT, 1000 + rank, 0, MPI_COMM_WORLD);
    printf("not reached\n");
    return 0;
}
