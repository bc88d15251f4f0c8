/* Each constructor, in both forms: the data bytes in their order, size, bounds and true bounds. */
#include "layout.h"

int main(int argc, char **argv)
{
    MPI_Datatype type, part;
    begin(&argc, &argv);
    return_errors();

    ok(MPI_Type_contiguous(3, MPI_INT, &type));
    LAYOUT(type, 0, 12, {0, 12});
    ok(MPI_Type_contiguous_c(3, MPI_SHORT_INT, &type));
    LAYOUT(type, 0, 24, {0, 2}, {4, 4}, {8, 2}, {12, 4}, {16, 2}, {20, 4});
    ok(MPI_Type_contiguous(0, MPI_INT, &type));
    LAYOUT(type, 0, 0, {0, 0});

    ok(MPI_Type_vector(3, 2, 4, MPI_INT, &type));
    LAYOUT(type, 0, 40, {0, 8}, {16, 8}, {32, 8});
    ok(MPI_Type_vector_c(3, 2, -4, MPI_INT, &type));
    LAYOUT(type, -32, 40, {0, 8}, {-16, 8}, {-32, 8});
    ok(MPI_Type_vector(0, 2, 4, MPI_INT, &type));
    LAYOUT(type, 0, 0, {0, 0});

    ok(MPI_Type_create_hvector(2, 1, 20, MPI_DOUBLE, &type));
    LAYOUT(type, 0, 32, {0, 8}, {20, 8});
    ok(MPI_Type_create_hvector_c(2, 1, -20, MPI_INT, &type));
    LAYOUT(type, -20, 24, {0, 4}, {-20, 4});

    const int lengths[] = {2, 0, 1}, places[] = {3, 100, -1};
    const MPI_Count lengths_c[] = {2, 0, 1}, places_c[] = {3, 100, -1};
    ok(MPI_Type_indexed(3, lengths, places, MPI_INT, &type));
    LAYOUT(type, -4, 24, {12, 8}, {-4, 4});
    ok(MPI_Type_indexed_c(3, lengths_c, places_c, MPI_INT, &type));
    LAYOUT(type, -4, 24, {12, 8}, {-4, 4});

    const MPI_Aint bytes[] = {30, 500, 2};
    const MPI_Count bytes_c[] = {30, 500, 2};
    ok(MPI_Type_create_hindexed(3, lengths, bytes, MPI_SHORT, &type));
    LAYOUT(type, 2, 32, {30, 4}, {2, 2});
    ok(MPI_Type_create_hindexed_c(3, lengths_c, bytes_c, MPI_SHORT, &type));
    LAYOUT(type, 2, 32, {30, 4}, {2, 2});

    ok(MPI_Type_create_indexed_block(2, 2, places, MPI_INT, &type));
    LAYOUT(type, 12, 396, {12, 8}, {400, 8});
    ok(MPI_Type_create_indexed_block_c(2, 2, places_c, MPI_INT, &type));
    LAYOUT(type, 12, 396, {12, 8}, {400, 8});
    ok(MPI_Type_create_hindexed_block(3, 1, bytes, MPI_BYTE, &type));
    LAYOUT(type, 2, 499, {30, 1}, {500, 1}, {2, 1});
    ok(MPI_Type_create_hindexed_block_c(3, 1, bytes_c, MPI_BYTE, &type));
    LAYOUT(type, 2, 499, {30, 1}, {500, 1}, {2, 1});

    const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
    const MPI_Aint fields[] = {0, 8, 16};
    const MPI_Count fields_c[] = {0, 8, 16};
    const int each[] = {3, 1, 1};
    const MPI_Count each_c[] = {3, 1, 1};
    ok(MPI_Type_create_struct(3, each, fields, types, &type));
    LAYOUT(type, 0, 24, {0, 3}, {8, 12});
    ok(MPI_Type_create_struct_c(3, each_c, fields_c, types, &type));
    LAYOUT(type, 0, 24, {0, 3}, {8, 12});
    ok(MPI_Type_create_struct(0, NULL, NULL, NULL, &type));
    LAYOUT(type, 0, 0, {0, 0});

    ok(MPI_Type_create_resized(MPI_INT, -8, 16, &type));
    LAYOUT(type, -8, 16, {0, 4});
    ok(MPI_Type_create_resized_c(MPI_INT, 4, -4, &type));
    LAYOUT(type, 4, -4, {0, 4});

    ok(MPI_Type_vector(2, 1, 2, MPI_SHORT, &part));
    ok(MPI_Type_dup(part, &type));
    LAYOUT(type, 0, 6, {0, 2}, {4, 2});
    /* The parts of a type may be freed before it. */
    ok(MPI_Type_create_hvector(2, 2, 40, part, &type));
    ok(MPI_Type_free(&part));
    LAYOUT(type, 0, 52, {0, 2}, {4, 4}, {10, 2}, {40, 2}, {44, 4}, {50, 2});
    return finish();
}
