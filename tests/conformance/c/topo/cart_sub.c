/* Parts of a grid: lines, planes, single processes; each is a grid with the dimensions that remain. */
#include "check.h"

int main(int argc, char **argv)
{
    int dims[3] = {0, 0, 0}, periods[3] = {1, 0, 1}, own[3], kind, total;
    MPI_Comm grid, part;
    begin(&argc, &argv);
    return_errors();
    ok(MPI_Dims_create(size, 3, dims));
    ok(MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &grid));
    ok(MPI_Cart_coords(grid, rank, 3, own));
    for (int bits = 0; bits < 8; bits++) {
        int remain[3] = {bits & 1, bits & 2, bits & 4}, kept = 0, number = -1, mine = -1, ndims = -1, expected = 1;
        int got[3] = {-7, -7, -7}, wraps[3], at[3], numbers = 0;
        ok(MPI_Cart_sub(grid, remain, &part));
        ok(MPI_Topo_test(part, &kind));
        check_equal(kind, MPI_CART);
        ok(MPI_Cartdim_get(part, &ndims));
        ok(MPI_Cart_get(part, 3, got, wraps, at));
        for (int i = 0; i < 3; i++)
            if (remain[i]) {
                check_equal(got[kept], dims[i]);
                check_equal(wraps[kept], periods[i]);
                check_equal(at[kept], own[i]);
                expected *= dims[i];
                kept++;
            }
        check_equal(ndims, kept);
        ok(MPI_Comm_size(part, &number));
        ok(MPI_Comm_rank(part, &mine));
        check_equal(number, expected);
        if (kept > 0) {
            ok(MPI_Cart_rank(part, at, &kind));
            check_equal(kind, mine);
        }
        /* It is a communicator of its own. */
        ok(MPI_Allreduce(&(int){1}, &numbers, 1, MPI_INT, MPI_SUM, part));
        check_equal(numbers, expected);
        ok(MPI_Comm_free(&part));
    }
    /* Different dimensions in different processes are an error in all of them. */
    ok(MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN));
    if (size > 1)
        check_class(MPI_Cart_sub(grid, (int[]){rank == 0, 1, 1}, &part), MPI_ERR_NOT_SAME);
    check_class(MPI_Cart_sub(grid, rank == 0 ? NULL : (int[]){1, 1, 1}, &part), MPI_ERR_ARG);
    check_class(MPI_Cart_sub(MPI_COMM_WORLD, dims, &part), MPI_ERR_TOPOLOGY);
    ok(MPI_Allreduce(&(int){1}, &total, 1, MPI_INT, MPI_SUM, grid));
    check_equal(total, size);
    ok(MPI_Comm_free(&grid));
    return finish();
}
