/* Datatypes by precision and range: the first kind of Fortran that has them, one handle for each pair of arguments,
 * which returns its arguments and cannot be freed. */
#include "check.h"

static void is(MPI_Datatype type, int bytes, int combiner, int p, int r)
{
    int size = -1, integers = -1, addresses = -1, types = -1, found = -1, given[2] = {-1, -1};
    ok(MPI_Type_size(type, &size));
    check_equal(size, bytes);
    ok(MPI_Type_get_envelope(type, &integers, &addresses, &types, &found));
    check_equal(found, combiner);
    check_equal(integers, combiner == MPI_COMBINER_F90_INTEGER ? 1 : 2);
    check(addresses == 0 && types == 0);
    ok(MPI_Type_get_contents(type, integers, 0, 0, given, NULL, NULL));
    if (integers == 2)
        check_equal(given[0], p);
    check_equal(given[integers - 1], r);
    MPI_Datatype freed = type;
    check_class(MPI_Type_free(&freed), MPI_ERR_TYPE);
    check(freed == type);
}

int main(int argc, char **argv)
{
    MPI_Datatype type, same, array, inner;
    begin(&argc, &argv);
    return_errors();
    static const struct {
        int p, r, bytes;
    } reals[] = {{0, 0, 4}, {6, 37, 4}, {7, 37, 8}, {6, 38, 8}, {15, 307, 8}, {15, 308, 16}, {16, 4931, 16},
        {33, 4931, 16}, {MPI_UNDEFINED, 300, 8}, {20, MPI_UNDEFINED, 16}};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        ok(MPI_Type_create_f90_real(reals[i].p, reals[i].r, &type));
        is(type, reals[i].bytes, MPI_COMBINER_F90_REAL, reals[i].p, reals[i].r);
        ok(MPI_Type_create_f90_real(reals[i].p, reals[i].r, &same));
        check(same == type);
        ok(MPI_Type_create_f90_complex(reals[i].p, reals[i].r, &type));
        is(type, 2 * reals[i].bytes, MPI_COMBINER_F90_COMPLEX, reals[i].p, reals[i].r);
        check(same != type);
    }
    static const int digits[] = {0, 2, 3, 4, 5, 9, 10, 18, 19, 38}, bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 16, 16};
    for (int i = 0; i < 10; i++) {
        ok(MPI_Type_create_f90_integer(digits[i], &type));
        is(type, bytes[i], MPI_COMBINER_F90_INTEGER, 0, digits[i]);
    }

    /* They are committed and reduced like the predefined type. */
    double value = rank + 1, sum = 0;
    ok(MPI_Type_create_f90_real(15, 307, &type));
    ok(MPI_Allreduce(&value, &sum, 1, type, MPI_SUM, MPI_COMM_WORLD));
    check(sum == size * (size + 1) / 2.0);
    /* The contents of another type have the one handle. */
    ok(MPI_Type_contiguous(3, type, &array));
    int three = 0;
    ok(MPI_Type_get_contents(array, 1, 0, 1, &three, NULL, &inner));
    check(inner == type && three == 3);
    ok(MPI_Type_free(&array));

    check_class(MPI_Type_create_f90_real(34, 1, &type), MPI_ERR_ARG);
    check_class(MPI_Type_create_f90_real(1, 4932, &type), MPI_ERR_ARG);
    check_class(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &type), MPI_ERR_ARG);
    check_class(MPI_Type_create_f90_complex(-1, 3, &type), MPI_ERR_ARG);
    check_class(MPI_Type_create_f90_integer(39, &type), MPI_ERR_ARG);
    check_class(MPI_Type_create_f90_integer(MPI_UNDEFINED, &type), MPI_ERR_ARG);
    return finish();
}
