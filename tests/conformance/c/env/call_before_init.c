/* A message before MPI_Init is an error that ends the program with a text, not a crash. */
#include "check.h"

int main(int argc, char **argv)
{
    int word = 0;
    (void)argc, (void)argv;
    MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    printf("not reached\n");
    return 0;
}
