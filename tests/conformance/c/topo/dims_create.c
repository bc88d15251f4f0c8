/* Dimensions: those of the standard's table, given ones, and errors. */
#include "check.h"

static int same(int nodes, int ndims, const int *given, const int *expected)
{
    int dims[4] = {0, 0, 0, 0};
    memcpy(dims, given, sizeof(int) * (size_t)ndims);
    ok(MPI_Dims_create(nodes, ndims, dims));
    return memcmp(dims, expected, sizeof(int) * (size_t)ndims) == 0;
}

static int class_for(int nodes, int ndims, const int *given)
{
    int dims[4] = {0, 0, 0, 0};
    memcpy(dims, given, sizeof(int) * 4);
    int class = class_of(MPI_Dims_create(nodes, ndims, dims));
    check(memcmp(dims, given, sizeof dims) == 0);
    return class;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return_errors();
    check(same(6, 2, (int[]){0, 0}, (int[]){3, 2}));
    check(same(7, 2, (int[]){0, 0}, (int[]){7, 1}));
    check(same(6, 3, (int[]){0, 3, 0}, (int[]){2, 3, 1}));
    check(same(1, 3, (int[]){0, 0, 0}, (int[]){1, 1, 1}));
    check(same(60, 3, (int[]){0, 0, 0}, (int[]){5, 4, 3}));
    check(same(720, 4, (int[]){0, 0, 0, 0}, (int[]){6, 6, 5, 4}));
    check(same(1 << 30, 3, (int[]){0, 0, 0}, (int[]){1024, 1024, 1024}));
    check(same(2147483647, 3, (int[]){0, 0, 0}, (int[]){2147483647, 1, 1}));
    check(same(12, 2, (int[]){4, 3}, (int[]){4, 3}));
    check_equal(class_for(7, 3, (int[]){0, 3, 0, 9}), MPI_ERR_DIMS);
    check_equal(class_for(24, 2, (int[]){4, 3, 9, 9}), MPI_ERR_DIMS);
    check_equal(class_for(12, 2, (int[]){-1, 0, 9, 9}), MPI_ERR_DIMS);
    check_equal(class_for(0, 2, (int[]){0, 0, 9, 9}), MPI_ERR_ARG);
    check_equal(class_for(-6, 2, (int[]){0, 0, 9, 9}), MPI_ERR_ARG);
    check_equal(class_for(6, -1, (int[]){0, 0, 9, 9}), MPI_ERR_DIMS);
    check_equal(class_for(6, 0, (int[]){9, 9, 9, 9}), MPI_SUCCESS);
    /* The product of the given ones is beyond any integer. */
    check_equal(class_for(6, 4, (int[]){2147483647, 2147483647, 2147483647, 0}), MPI_ERR_DIMS);
    check_class(MPI_Dims_create(6, 2, NULL), MPI_ERR_ARG);
    return finish();
}
