/* The large-count forms: units and counts beyond an int. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int *memory = NULL, data[4] = {rank, rank + 1, rank + 2, rank + 3}, back[4] = {0}, flag = 0, *unit;
    MPI_Win win, wide;
    ok(MPI_Win_allocate_c(sizeof(int) * 4, (MPI_Aint)sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    memset(memory, 0, sizeof(int) * 4);
    int next = (rank + 1) % size;
    ok(MPI_Win_fence(0, win));
    ok(MPI_Put_c(data, (MPI_Count)4, MPI_INT, next, 0, (MPI_Count)4, MPI_INT, win));
    ok(MPI_Win_fence(0, win));
    ok(MPI_Accumulate_c(data, (MPI_Count)4, MPI_INT, next, 0, (MPI_Count)4, MPI_INT, MPI_SUM, win));
    ok(MPI_Win_fence(0, win));
    ok(MPI_Get_c(back, (MPI_Count)4, MPI_INT, next, 0, (MPI_Count)4, MPI_INT, win));
    ok(MPI_Win_fence(0, win));
    for (int i = 0; i < 4; i++)
        check_equal(back[i], 2 * (rank + i));
    ok(MPI_Win_free(&win));
    /* One displacement may be more than an int of bytes. */
    ok(MPI_Win_create_c(data, sizeof data, (MPI_Aint)1 << 40, MPI_INFO_NULL, MPI_COMM_WORLD, &wide));
    ok(MPI_Win_get_attr(wide, MPI_WIN_DISP_UNIT, &unit, &flag));
    check(flag);
    ok(MPI_Win_fence(0, wide));
    ok(MPI_Get(back, 4, MPI_INT, next, 0, 4, MPI_INT, wide));
    ok(MPI_Win_fence(0, wide));
    check_equal(back[0], next);
    ok(MPI_Win_free(&wide));
    return finish();
}
