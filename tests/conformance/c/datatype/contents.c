/* The envelope and the contents of a datatype: the constructor, and its arguments as they were passed. */
#include "check.h"

static void envelope(MPI_Datatype type, int combiner, int integers, int addresses, int large, int datatypes)
{
    int got[4] = {-1, -1, -1, -1};
    MPI_Count c[4] = {-1, -1, -1, -1};
    if (large == 0) {
        ok(MPI_Type_get_envelope(type, &got[0], &got[1], &got[2], &got[3]));
        check_equal(got[0], integers);
        check_equal(got[1], addresses);
        check_equal(got[2], datatypes);
        check_equal(got[3], combiner);
    } else {
        /* The small form has no array for the large counts. */
        check_class(MPI_Type_get_envelope(type, &got[0], &got[1], &got[2], &got[3]), MPI_ERR_TYPE);
        check(got[0] == -1 && got[3] == -1);
    }
    ok(MPI_Type_get_envelope_c(type, &c[0], &c[1], &c[2], &c[3], &got[3]));
    check_equal(c[0], integers);
    check_equal(c[1], addresses);
    check_equal(c[2], large);
    check_equal(c[3], datatypes);
    check_equal(got[3], combiner);
}

/* The contents, of which there are as many as the lists have; frees the type. */
static void contents(MPI_Datatype type, int combiner, const int *integers, int n, const MPI_Aint *addresses, int a,
                     const MPI_Count *large, int l, const MPI_Datatype *types, int t)
{
    int is_integers[32];
    MPI_Aint is_addresses[32];
    MPI_Count is_large[32];
    MPI_Datatype is_types[32];
    envelope(type, combiner, n, a, l, t);
    for (int form = l > 0; form < 2; form++) {
        memset(is_integers, 0x55, sizeof is_integers);
        if (form == 0)
            ok(MPI_Type_get_contents(type, n, a, t, is_integers, is_addresses, is_types));
        else
            ok(MPI_Type_get_contents_c(type, n, a, l, t, is_integers, is_addresses, is_large, is_types));
        for (int i = 0; i < n; i++)
            check_equal(is_integers[i], integers[i]);
        for (int i = 0; i < a; i++)
            check_equal(is_addresses[i], addresses[i]);
        for (int i = 0; i < l; i++)
            check_equal(is_large[i], large[i]);
        for (int i = 0; i < t; i++)
            check(is_types[i] == types[i]);
        check_equal(is_integers[n], 0x55555555);
    }
    ok(MPI_Type_free(&type));
}

#define LENGTH(list) (int)(sizeof(list) / sizeof(list)[0])

int main(int argc, char **argv)
{
    MPI_Datatype type, part;
    const MPI_Datatype of_int[] = {MPI_INT}, three[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT_INT};
    begin(&argc, &argv);
    return_errors();

    envelope(MPI_DOUBLE_INT, MPI_COMBINER_NAMED, 0, 0, 0, 0);
    MPI_Datatype unused[1];
    check_class(MPI_Type_get_contents(MPI_INT, 0, 0, 0, NULL, NULL, unused), MPI_ERR_TYPE);

    ok(MPI_Type_dup(MPI_INT, &type));
    contents(type, MPI_COMBINER_DUP, NULL, 0, NULL, 0, NULL, 0, of_int, 1);
    ok(MPI_Type_contiguous(7, MPI_INT, &type));
    contents(type, MPI_COMBINER_CONTIGUOUS, (int[]){7}, 1, NULL, 0, NULL, 0, of_int, 1);
    ok(MPI_Type_contiguous_c(7, MPI_INT, &type));
    contents(type, MPI_COMBINER_CONTIGUOUS, NULL, 0, NULL, 0, (MPI_Count[]){7}, 1, of_int, 1);
    ok(MPI_Type_vector(2, 3, -4, MPI_INT, &type));
    contents(type, MPI_COMBINER_VECTOR, (int[]){2, 3, -4}, 3, NULL, 0, NULL, 0, of_int, 1);
    ok(MPI_Type_vector_c(2, 3, -4, MPI_INT, &type));
    contents(type, MPI_COMBINER_VECTOR, NULL, 0, NULL, 0, (MPI_Count[]){2, 3, -4}, 3, of_int, 1);
    ok(MPI_Type_create_hvector(2, 3, -44, MPI_INT, &type));
    contents(type, MPI_COMBINER_HVECTOR, (int[]){2, 3}, 2, (MPI_Aint[]){-44}, 1, NULL, 0, of_int, 1);
    ok(MPI_Type_create_hvector_c(2, 3, -44, MPI_INT, &type));
    contents(type, MPI_COMBINER_HVECTOR, NULL, 0, NULL, 0, (MPI_Count[]){2, 3, -44}, 3, of_int, 1);

    const int lengths[] = {1, 0, 2}, places[] = {5, 9, 0};
    const MPI_Aint bytes[] = {0, 8, 16};
    const MPI_Count lengths_c[] = {1, 0, 2}, places_c[] = {5, 9, 0}, bytes_c[] = {0, 8, 16};
    ok(MPI_Type_indexed(3, lengths, places, MPI_INT, &type));
    contents(type, MPI_COMBINER_INDEXED, (int[]){3, 1, 0, 2, 5, 9, 0}, 7, NULL, 0, NULL, 0, of_int, 1);
    ok(MPI_Type_indexed_c(3, lengths_c, places_c, MPI_INT, &type));
    contents(type, MPI_COMBINER_INDEXED, NULL, 0, NULL, 0, (MPI_Count[]){3, 1, 0, 2, 5, 9, 0}, 7, of_int, 1);
    ok(MPI_Type_create_hindexed(3, lengths, bytes, MPI_INT, &type));
    contents(type, MPI_COMBINER_HINDEXED, (int[]){3, 1, 0, 2}, 4, bytes, 3, NULL, 0, of_int, 1);
    ok(MPI_Type_create_hindexed_c(3, lengths_c, bytes_c, MPI_INT, &type));
    contents(type, MPI_COMBINER_HINDEXED, NULL, 0, NULL, 0, (MPI_Count[]){3, 1, 0, 2, 0, 8, 16}, 7, of_int, 1);
    ok(MPI_Type_create_indexed_block(3, 2, places, MPI_INT, &type));
    contents(type, MPI_COMBINER_INDEXED_BLOCK, (int[]){3, 2, 5, 9, 0}, 5, NULL, 0, NULL, 0, of_int, 1);
    ok(MPI_Type_create_indexed_block_c(3, 2, places_c, MPI_INT, &type));
    contents(type, MPI_COMBINER_INDEXED_BLOCK, NULL, 0, NULL, 0, (MPI_Count[]){3, 2, 5, 9, 0}, 5, of_int, 1);
    ok(MPI_Type_create_hindexed_block(3, 2, bytes, MPI_INT, &type));
    contents(type, MPI_COMBINER_HINDEXED_BLOCK, (int[]){3, 2}, 2, bytes, 3, NULL, 0, of_int, 1);
    ok(MPI_Type_create_hindexed_block_c(3, 2, bytes_c, MPI_INT, &type));
    contents(type, MPI_COMBINER_HINDEXED_BLOCK, NULL, 0, NULL, 0, (MPI_Count[]){3, 2, 0, 8, 16}, 5, of_int, 1);
    ok(MPI_Type_create_struct(3, lengths, bytes, three, &type));
    contents(type, MPI_COMBINER_STRUCT, (int[]){3, 1, 0, 2}, 4, bytes, 3, NULL, 0, three, 3);
    ok(MPI_Type_create_struct_c(3, lengths_c, bytes_c, three, &type));
    contents(type, MPI_COMBINER_STRUCT, NULL, 0, NULL, 0, (MPI_Count[]){3, 1, 0, 2, 0, 8, 16}, 7, three, 3);
    ok(MPI_Type_create_resized(MPI_INT, -1, 9, &type));
    contents(type, MPI_COMBINER_RESIZED, NULL, 0, (MPI_Aint[]){-1, 9}, 2, NULL, 0, of_int, 1);
    ok(MPI_Type_create_resized_c(MPI_INT, -1, 9, &type));
    contents(type, MPI_COMBINER_RESIZED, NULL, 0, NULL, 0, (MPI_Count[]){-1, 9}, 2, of_int, 1);

    const int sizes[] = {4, 5}, subsizes[] = {2, 3}, starts[] = {1, 2}, order = MPI_ORDER_FORTRAN;
    const MPI_Count sizes_c[] = {4, 5}, subsizes_c[] = {2, 3}, starts_c[] = {1, 2};
    ok(MPI_Type_create_subarray(2, sizes, subsizes, starts, order, MPI_INT, &type));
    contents(type, MPI_COMBINER_SUBARRAY, (int[]){2, 4, 5, 2, 3, 1, 2, order}, 8, NULL, 0, NULL, 0, of_int, 1);
    ok(MPI_Type_create_subarray_c(2, sizes_c, subsizes_c, starts_c, order, MPI_INT, &type));
    contents(type, MPI_COMBINER_SUBARRAY, (int[]){2, order}, 2, NULL, 0, (MPI_Count[]){4, 5, 2, 3, 1, 2}, 6, of_int, 1);
    const int kinds[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, 2};
    const int grid[] = {2, 3};
    const int all[] = {6, 4, 2, 4, 5, kinds[0], kinds[1], arguments[0], 2, 2, 3, order};
    const int others[] = {6, 4, 2, kinds[0], kinds[1], arguments[0], 2, 2, 3, order};
    ok(MPI_Type_create_darray(6, 4, 2, sizes, kinds, arguments, grid, order, MPI_INT, &type));
    contents(type, MPI_COMBINER_DARRAY, all, LENGTH(all), NULL, 0, NULL, 0, of_int, 1);
    ok(MPI_Type_create_darray_c(6, 4, 2, sizes_c, kinds, arguments, grid, order, MPI_INT, &type));
    contents(type, MPI_COMBINER_DARRAY, others, LENGTH(others), NULL, 0, sizes_c, 2, of_int, 1);

    /* A derived type is returned as a new handle of an equal type, which the caller frees. */
    ok(MPI_Type_vector(2, 1, 3, MPI_SHORT, &part));
    ok(MPI_Type_contiguous(5, part, &type));
    MPI_Datatype back = MPI_DATATYPE_NULL;
    int count = -1, length = -1;
    ok(MPI_Type_get_contents(type, 1, 0, 1, &count, NULL, &back));
    check(count == 5 && back != part && back != type);
    ok(MPI_Type_free(&part));
    envelope(back, MPI_COMBINER_VECTOR, 3, 0, 0, 1);
    ok(MPI_Type_size(back, &length));
    check_equal(length, 4);
    ok(MPI_Type_free(&back));

    /* Too little room changes nothing. */
    count = -1;
    check_class(MPI_Type_get_contents(type, 0, 0, 1, &count, NULL, &back), MPI_ERR_ARG);
    check_class(MPI_Type_get_contents(type, 1, 0, 0, &count, NULL, &back), MPI_ERR_ARG);
    check_class(MPI_Type_get_contents(type, 1, 0, 1, NULL, NULL, &back), MPI_ERR_ARG);
    check_class(MPI_Type_get_contents(type, 1, 0, 1, &count, NULL, NULL), MPI_ERR_ARG);
    check(count == -1 && back == MPI_DATATYPE_NULL);
    ok(MPI_Type_free(&type));
    return finish();
}
