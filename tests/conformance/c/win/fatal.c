/* An error on a window without another handler ends the job and reports the wrong argument and the call. */
#include "check.h"

int main(int argc, char **argv)
{
    char memory[800];
    double data[100] = {0};
    MPI_Win win;
    begin(&argc, &argv);
    MPI_Win_create(memory, 800, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_name(win, "temperature");
    MPI_Win_fence(0, win);
    if (rank == 0)
        MPI_Put(data, 100, MPI_DOUBLE, size - 1, 1, 100, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    return finish();
}
