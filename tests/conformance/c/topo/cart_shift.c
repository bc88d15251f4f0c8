/* Shifts in a grid: sources and destinations match in all processes, and data follow them. */
#include "check.h"

static void shifts(const int *periods)
{
    int dims[2] = {0, 0}, own[2], expected, before, behind, at[2];
    MPI_Comm grid;
    ok(MPI_Dims_create(size, 2, dims));
    ok(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid));
    ok(MPI_Cart_coords(grid, rank, 2, own));
    for (int direction = 0; direction < 2; direction++)
        for (int step = -3; step <= 3; step++) {
            int in = -1, length = dims[direction];
            ok(MPI_Cart_shift(grid, direction, step, &before, &behind));
            for (int sign = -1; sign <= 1; sign += 2) {
                at[0] = own[0], at[1] = own[1];
                at[direction] += sign * step;
                if (periods[direction])
                    at[direction] = ((at[direction] % length) + length) % length;
                expected = at[direction] < 0 || at[direction] >= length ? MPI_PROC_NULL : at[0] * dims[1] + at[1];
                check_equal(sign < 0 ? before : behind, expected);
            }
            ok(MPI_Sendrecv(&rank, 1, MPI_INT, behind, step + 10, &in, 1, MPI_INT, before, step + 10, grid,
                            MPI_STATUS_IGNORE));
            check_equal(in, before == MPI_PROC_NULL ? -1 : before);
        }
    ok(MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN));
    check_class(MPI_Cart_shift(grid, 2, 1, &before, &behind), MPI_ERR_DIMS);
    check_class(MPI_Cart_shift(grid, -1, 1, &before, &behind), MPI_ERR_DIMS);
    ok(MPI_Comm_free(&grid));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    for (int bits = 0; bits < 4; bits++)
        shifts((int[]){bits & 1, bits >> 1});
    return finish();
}
