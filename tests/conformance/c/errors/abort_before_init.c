/* An error before MPI_Init ends the process, or the job, with a report. */
#include "check.h"

int main(int argc, char **argv)
{
    int number = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &number);
    printf("not reached\n");
    return 0;
}
