/* Accumulations of all processes to the same elements are all applied, in any number and of any length. */
#include "check.h"

enum { LONG = 400000, SMALL = 5000 };

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    long long *memory = calloc(LONG, sizeof *memory), *data = malloc(LONG * sizeof *data);
    MPI_Win win;
    ok(MPI_Win_create(memory, LONG * (MPI_Aint)sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    for (int i = 0; i < LONG; i++)
        data[i] = (long long)i * (rank + 1);

    /* Long ones. */
    ok(MPI_Win_fence(0, win));
    for (int target = 0; target < size; target++)
        ok(MPI_Accumulate(data, LONG, MPI_LONG_LONG, target, 0, LONG, MPI_LONG_LONG, MPI_SUM, win));
    ok(MPI_Win_fence(0, win));
    long long sum = (long long)size * (size + 1) / 2;
    for (int i = 0; i < LONG; i++)
        check_equal(memory[i], sum * i);

    /* Many short ones to one word. */
    memory[3] = 0;
    ok(MPI_Win_fence(0, win));
    for (int i = 0; i < SMALL; i++)
        ok(MPI_Accumulate(&data[1], 1, MPI_LONG_LONG, i % size, 3, 1, MPI_LONG_LONG, MPI_SUM, win));
    ok(MPI_Win_fence(0, win));
    int mine = SMALL / size + (rank < SMALL % size);
    check_equal(memory[3], sum * mine);

    /* One process's accumulations to the same element keep their order. */
    long long values[3] = {5, 7, 100};
    memory[0] = -1;
    ok(MPI_Win_fence(0, win));
    if (rank == size - 1) {
        ok(MPI_Accumulate(&values[2], 1, MPI_LONG_LONG, 0, 0, 1, MPI_LONG_LONG, MPI_REPLACE, win));
        ok(MPI_Accumulate(&values[0], 1, MPI_LONG_LONG, 0, 0, 1, MPI_LONG_LONG, MPI_REPLACE, win));
        ok(MPI_Accumulate(&values[1], 1, MPI_LONG_LONG, 0, 0, 1, MPI_LONG_LONG, MPI_PROD, win));
    }
    ok(MPI_Win_fence(0, win));
    if (rank == 0)
        check_equal(memory[0], 35);

    /* Data put and accumulated in one epoch, to different places, is all there. */
    memset(memory, 0, 100 * sizeof *memory);
    ok(MPI_Win_fence(0, win));
    long long marker = 40 + rank;
    for (int target = 0; target < size; target++) {
        ok(MPI_Put(&marker, 1, MPI_LONG_LONG, target, 50 + rank, 1, MPI_LONG_LONG, win));
        ok(MPI_Accumulate(&marker, 1, MPI_LONG_LONG, target, 10, 1, MPI_LONG_LONG, MPI_MAX, win));
        ok(MPI_Accumulate(&marker, 1, MPI_LONG_LONG, target, 11, 1, MPI_LONG_LONG, MPI_BOR, win));
    }
    ok(MPI_Win_fence(0, win));
    long long bits = 0;
    for (int origin = 0; origin < size; origin++) {
        check_equal(memory[50 + origin], 40 + origin);
        bits |= 40 + origin;
    }
    check_equal(memory[10], 40 + size - 1);
    check_equal(memory[11], bits);
    ok(MPI_Win_free(&win));
    free(memory);
    free(data);
    return finish();
}
