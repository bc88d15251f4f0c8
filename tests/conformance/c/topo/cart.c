/* Grids: creation with and without all processes, coordinates and ranks with wrap-around, the grid as it was created,
 * grids without dimensions, and wrong arguments. */
#include "check.h"

static void a_grid_of_all(void)
{
    int dims[2] = {0, 0}, periods[2] = {1, 0}, coords[3] = {-7, -7, -7}, found = -1, kind = -1, ndims = -1;
    int got_dims[3] = {-7, -7, -7}, got_periods[3] = {-7, -7, -7};
    MPI_Comm grid;
    ok(MPI_Dims_create(size, 2, dims));
    check_equal(dims[0] * dims[1], size);
    ok(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid));
    check(grid != MPI_COMM_NULL);
    ok(MPI_Topo_test(grid, &kind));
    check_equal(kind, MPI_CART);
    ok(MPI_Cartdim_get(grid, &ndims));
    check_equal(ndims, 2);
    ok(MPI_Cart_get(grid, 3, got_dims, got_periods, coords));
    for (int i = 0; i < 2; i++) {
        check_equal(got_dims[i], dims[i]);
        check_equal(got_periods[i], periods[i]);
    }
    check_equal(coords[0], rank / dims[1]);
    check_equal(coords[1], rank % dims[1]);
    /* Nothing is stored beyond the dimensions. */
    check_equal(got_dims[2], -7);
    check_equal(coords[2], -7);
    for (int other = 0; other < size; other++) {
        int at[2] = {-1, -1};
        ok(MPI_Cart_coords(grid, other, 2, at));
        check_equal(at[0], other / dims[1]);
        check_equal(at[1], other % dims[1]);
        for (int turns = -2; turns <= 2; turns++) {
            int turned[2] = {at[0] + turns * dims[0], at[1]};
            ok(MPI_Cart_rank(grid, turned, &found));
            check_equal(found, other);
        }
    }
    int outside[2] = {0, dims[1]}, below[2] = {0, -1};
    check_class(MPI_Cart_rank(grid, outside, &found), MPI_ERR_ARG);
    check_class(MPI_Cart_rank(grid, below, &found), MPI_ERR_ARG);
    check_class(MPI_Cart_coords(grid, size, 2, coords), MPI_ERR_RANK);
    check_class(MPI_Cart_coords(grid, -1, 2, coords), MPI_ERR_RANK);
    check_class(MPI_Cart_coords(grid, 0, 1, coords), MPI_ERR_ARG);
    check_class(MPI_Cart_get(grid, 1, got_dims, got_periods, coords), MPI_ERR_ARG);
    ok(MPI_Comm_free(&grid));
}

/* A smaller grid leaves processes out; a larger one is an error. */
static void not_all(void)
{
    int dims[1] = {size - 1}, periods[1] = {1}, members = -1;
    MPI_Comm grid = MPI_COMM_SELF;
    if (size > 1) {
        ok(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid));
        check((grid == MPI_COMM_NULL) == (rank == size - 1));
        if (grid != MPI_COMM_NULL) {
            ok(MPI_Comm_size(grid, &members));
            check_equal(members, size - 1);
            ok(MPI_Comm_free(&grid));
        }
    }
    dims[0] = size + 1;
    check_class(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid), MPI_ERR_DIMS);
    dims[0] = 0;
    check_class(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid), MPI_ERR_DIMS);
    check_class(MPI_Cart_create(MPI_COMM_WORLD, -1, dims, periods, 0, &grid), MPI_ERR_DIMS);
    int large[4] = {65536, 65536, 65536, 65536}, none[4] = {0, 0, 0, 0};
    check_class(MPI_Cart_create(MPI_COMM_WORLD, 4, large, none, 0, &grid), MPI_ERR_DIMS);
}

/* A grid without dimensions has one process; its calls leave the arrays as they are. */
static void without_dimensions(void)
{
    int found = -1, ndims = -1, dims[1] = {-7}, periods[1] = {-7}, coords[1] = {-7}, before = -7, behind = -7;
    MPI_Comm grid;
    ok(MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &grid));
    check((grid != MPI_COMM_NULL) == (rank == 0));
    if (grid == MPI_COMM_NULL)
        return;
    ok(MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN));
    ok(MPI_Cartdim_get(grid, &ndims));
    check_equal(ndims, 0);
    ok(MPI_Cart_get(grid, 1, dims, periods, coords));
    ok(MPI_Cart_coords(grid, 0, 1, coords));
    check(dims[0] == -7 && periods[0] == -7 && coords[0] == -7);
    ok(MPI_Cart_rank(grid, NULL, &found));
    check_equal(found, 0);
    check_class(MPI_Cart_shift(grid, 0, 1, &before, &behind), MPI_ERR_DIMS);
    ok(MPI_Comm_free(&grid));
}

/* A wrong argument in one process is an error in all, and none waits for ever. */
static void one_is_wrong(void)
{
    int dims[1] = {rank == 0 ? -1 : size}, periods[1] = {0}, newrank = -7;
    MPI_Comm grid = MPI_COMM_SELF;
    check_class(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid), MPI_ERR_DIMS);
    check_class(MPI_Cart_map(MPI_COMM_WORLD, 1, dims, periods, &newrank), MPI_ERR_DIMS);
    if (size > 1) {
        dims[0] = rank == 0 ? size - 1 : size;
        check_class(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid), MPI_ERR_NOT_SAME);
        check_class(MPI_Cart_map(MPI_COMM_WORLD, 1, dims, periods, &newrank), MPI_ERR_NOT_SAME);
    }
    dims[0] = size;
    check_class(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, rank == 0 ? NULL : &grid), MPI_ERR_ARG);
    check(grid == MPI_COMM_SELF && newrank == -7);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return_errors();
    a_grid_of_all();
    not_all();
    without_dimensions();
    one_is_wrong();
    return finish();
}
