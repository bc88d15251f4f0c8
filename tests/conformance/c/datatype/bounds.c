/* Bounds (MPI-4.1, 5.1.6): resized parts set them and hide all others; else the extent is rounded up to the largest
 * alignment; blocks without elements contribute nothing. */
#include "layout.h"

int main(int argc, char **argv)
{
    MPI_Datatype type, small, wide, none;
    begin(&argc, &argv);
    return_errors();

    const MPI_Aint two[] = {0, 8}, odd[] = {0, 5};
    const int ones[] = {1, 1}, one_none[] = {1, 0};
    const MPI_Datatype double_char[] = {MPI_DOUBLE, MPI_CHAR};
    ok(MPI_Type_create_struct(2, ones, two, double_char, &type));
    LAYOUT(type, 0, 16, {0, 9});
    ok(MPI_Type_create_struct(2, one_none, two, double_char, &type));
    LAYOUT(type, 0, 8, {0, 8});
    ok(MPI_Type_create_hindexed_block(2, 1, odd, MPI_INT, &type));
    LAYOUT(type, 0, 12, {0, 4}, {5, 4});

    /* A part with bounds of its own decides for the whole. */
    ok(MPI_Type_create_resized(MPI_INT, 0, 4, &small));
    const MPI_Datatype resized_double[] = {small, MPI_DOUBLE};
    ok(MPI_Type_create_struct(2, ones, two, resized_double, &type));
    LAYOUT(type, 0, 4, {0, 4}, {8, 8});
    ok(MPI_Type_create_resized(MPI_INT, -3, 9, &wide));
    const MPI_Datatype both[] = {small, wide};
    ok(MPI_Type_create_struct(2, ones, two, both, &type));
    LAYOUT(type, 0, 14, {0, 4}, {8, 4});
    ok(MPI_Type_contiguous(3, wide, &type));
    LAYOUT(type, -3, 27, {0, 4}, {9, 4}, {18, 4});
    /* A new resize hides the old one. */
    ok(MPI_Type_create_resized(wide, 1, 2, &type));
    LAYOUT(type, 1, 2, {0, 4});

    /* Bounds alone: no data, but an extent. */
    ok(MPI_Type_contiguous(0, MPI_INT, &none));
    ok(MPI_Type_create_resized(none, -2, 10, &type));
    ok(MPI_Type_free(&none));
    ok(MPI_Type_contiguous(2, type, &none));
    MPI_Aint lb = 0, extent = 0;
    int length = -1;
    ok(MPI_Type_get_extent(none, &lb, &extent));
    ok(MPI_Type_size(none, &length));
    check(lb == -2 && extent == 20 && length == 0);
    ok(MPI_Type_free(&none));
    ok(MPI_Type_free(&type));
    ok(MPI_Type_free(&small));
    ok(MPI_Type_free(&wide));

    /* Sizes that do not fit into an int. */
    ok(MPI_Type_contiguous_c((MPI_Count)1 << 40, MPI_INT, &type));
    MPI_Count big = -1;
    ok(MPI_Type_size(type, &length));
    check_equal(length, MPI_UNDEFINED);
    ok(MPI_Type_size_c(type, &big));
    check_equal(big, (MPI_Count)1 << 42);
    ok(MPI_Type_get_extent(type, &lb, &extent));
    check_equal(extent, (MPI_Aint)1 << 42);
    MPI_Datatype huge = MPI_DATATYPE_NULL;
    check_class(MPI_Type_contiguous_c((MPI_Count)1 << 40, type, &huge), MPI_ERR_COUNT);
    check_class(MPI_Type_create_hvector_c(3, 1, (MPI_Count)1 << 62, MPI_INT, &huge), MPI_ERR_ARG);
    check_class(MPI_Type_create_resized(MPI_INT, (MPI_Aint)1 << 62, (MPI_Aint)1 << 62, &huge), MPI_ERR_ARG);
    check(huge == MPI_DATATYPE_NULL);
    ok(MPI_Type_free(&type));
    return finish();
}
