/* Numbers of basic elements: in part of a type, of pairs, of types without data; set and read back. */
#include "check.h"

static void expect(MPI_Datatype type, int bytes, int elements, int count)
{
    MPI_Status status;
    int got = -1;
    MPI_Count is_x = -1, is_c = -1;
    memset(&status, 0, sizeof status);
    ok(MPI_Status_set_elements(&status, MPI_BYTE, bytes));
    ok(MPI_Get_elements(&status, type, &got));
    check_equal(got, elements);
    ok(MPI_Get_elements_x(&status, type, &is_x));
    check_equal(is_x, elements);
    ok(MPI_Get_elements_c(&status, type, &is_c));
    check_equal(is_c, elements);
    ok(MPI_Get_count(&status, type, &got));
    check_equal(got, count);
    if (elements != MPI_UNDEFINED) {
        ok(MPI_Status_set_elements(&status, type, elements));
        ok(MPI_Get_elements(&status, MPI_BYTE, &got));
        check_equal(got, bytes);
        ok(MPI_Status_set_elements_x(&status, type, elements));
        ok(MPI_Get_elements(&status, MPI_BYTE, &got));
        check_equal(got, bytes);
    }
}

int main(int argc, char **argv)
{
    MPI_Datatype item, items, pairs, nothing;
    const int lengths[] = {3, 1, 2};
    const MPI_Aint places[] = {0, 8, 24};
    const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT_INT};
    begin(&argc, &argv);
    return_errors();
    /* 3 of 1 byte, 1 of 8, then 2 of (2, 4): 23 bytes and 8 elements. */
    ok(MPI_Type_create_struct(3, lengths, places, types, &item));
    ok(MPI_Type_vector(2, 5, 7, item, &items));
    ok(MPI_Type_commit(&items));
    const int ends[] = {0, 1, 2, 3, 11, 13, 17, 19, 23};
    for (int copies = 0; copies < 11; copies += 5)
        for (int bytes = 0; bytes < 23; bytes++) {
            int elements = MPI_UNDEFINED;
            for (int i = 0; i < 9; i++)
                elements = ends[i] == bytes ? i : elements;
            elements = elements == MPI_UNDEFINED ? elements : elements + 8 * copies;
            expect(item, copies * 23 + bytes, elements, bytes == 0 ? copies : MPI_UNDEFINED);
            expect(items, copies * 23 + bytes, elements, bytes == 0 && copies % 10 == 0 ? copies / 10 : MPI_UNDEFINED);
        }
    ok(MPI_Type_contiguous(3, MPI_2INT, &pairs));
    expect(pairs, 24, 6, 1);
    expect(pairs, 20, 5, MPI_UNDEFINED);
    expect(pairs, 21, MPI_UNDEFINED, MPI_UNDEFINED);
    ok(MPI_Type_contiguous(0, MPI_INT, &nothing));
    expect(nothing, 0, 0, 0);
    expect(nothing, 4, MPI_UNDEFINED, MPI_UNDEFINED);
    ok(MPI_Type_free(&item));
    ok(MPI_Type_free(&items));
    ok(MPI_Type_free(&pairs));
    ok(MPI_Type_free(&nothing));
    return finish();
}
