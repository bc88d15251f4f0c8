/* Displacements are in the target's unit, whatever the origin's is; windows differ in size; an access without
 * elements and one to MPI_PROC_NULL are allowed. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    /* Rank r exposes 10 * (r + 1) doubles in units of r + 1 bytes: double i is at displacement 8 * i / (r + 1). */
    int doubles = 10 * (rank + 1), unit = rank % 2 ? 8 : 1;
    double *memory = calloc((size_t)doubles, sizeof *memory), value = rank + 0.5, back = -1;
    MPI_Win win;
    ok(MPI_Win_create(memory, doubles * (MPI_Aint)sizeof *memory, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    ok(MPI_Win_fence(0, win));
    for (int target = 0; target < size; target++) {
        MPI_Aint element = 10 * (target + 1) - 1 - rank;
        ok(MPI_Put(&value, 1, MPI_DOUBLE, target, target % 2 ? element : element * 8, 1, MPI_DOUBLE, win));
    }
    ok(MPI_Win_fence(0, win));
    for (int origin = 0; origin < size; origin++)
        check(memory[doubles - 1 - origin] == origin + 0.5);
    for (int i = 0; i < doubles - size; i++)
        check(memory[i] == 0);

    int last = size - 1;
    MPI_Aint end = 10 * (last + 1) * (last % 2 ? 1 : 8);
    ok(MPI_Get(&back, 0, MPI_DOUBLE, last, end, 0, MPI_DOUBLE, win));
    ok(MPI_Put(NULL, 0, MPI_DOUBLE, 0, 0, 0, MPI_DOUBLE, win));
    ok(MPI_Get(&back, 1, MPI_DOUBLE, MPI_PROC_NULL, 1 << 20, 1, MPI_DOUBLE, win));
    ok(MPI_Put(&back, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, win));
    ok(MPI_Accumulate(&back, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, MPI_SUM, win));
    ok(MPI_Win_fence(0, win));
    check(back == -1);
    /* Fewer data than the target has room for are allowed. */
    double two[2] = {7, 8};
    ok(MPI_Win_fence(0, win));
    if (rank == 0)
        ok(MPI_Put(two, 1, MPI_DOUBLE, last, 0, 2, MPI_DOUBLE, win));
    ok(MPI_Win_fence(0, win));
    if (rank == last)
        check(memory[0] == 7 && memory[1] == 0);
    ok(MPI_Win_free(&win));
    free(memory);
    return finish();
}
