/* One-sided operations on one element, whose functions have no count. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, *memory, one = 1, zero = 0, before;
    double *numbers, number = 1, old;
    MPI_Win win, doubles;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_allocate(sizeof *numbers, sizeof *numbers, MPI_INFO_NULL, MPI_COMM_WORLD, &numbers, &doubles);
    MPI_Win_lock_all(0, win);
    MPI_Win_lock_all(0, doubles);
    MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 0, MPI_SUM, win);
    MPI_Fetch_and_op(&number, &old, MPI_DOUBLE, 0, 0, MPI_SUM, doubles);
    MPI_Compare_and_swap(&one, &zero, &before, MPI_INT, 0, 0, win);
    MPI_Win_unlock_all(doubles);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&doubles);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
