/* An accumulation has the result of MPI_Reduce_local, for every operation on every type that it is defined on;
 * MPI_REPLACE is for all types. */
#include "check.h"

static const MPI_Datatype TYPES[] = {
    MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_INT, MPI_UNSIGNED, MPI_LONG,
    MPI_UNSIGNED_LONG, MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG, MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_C_BOOL,
    MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T, MPI_AINT,
    MPI_COUNT, MPI_OFFSET, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX, MPI_FLOAT_INT,
    MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT, MPI_BYTE, MPI_CHAR, MPI_WCHAR,
    MPI_PACKED};
static const MPI_Op OPS[] = {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR,
                             MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
enum { COUNT = 9, ROOM = 1024 };

/* Small numbers in every type: the bytes 0 and 1 would be unusual floating point numbers, so numbers are converted. */
static void numbers(char *memory, MPI_Datatype type, int seed)
{
    MPI_Aint lower, extent;
    MPI_Type_get_extent(type, &lower, &extent);
    memset(memory, 0, ROOM);
    for (int i = 0; i < COUNT; i++) {
        char *at = memory + i * extent;
        int value = 1 + (i * 3 + seed) % 5;
        if (type == MPI_FLOAT || type == MPI_C_FLOAT_COMPLEX || type == MPI_FLOAT_INT)
            *(float *)at = (float)value;
        else if (type == MPI_DOUBLE || type == MPI_C_DOUBLE_COMPLEX || type == MPI_DOUBLE_INT)
            *(double *)at = value;
        else if (type == MPI_LONG_DOUBLE || type == MPI_C_LONG_DOUBLE_COMPLEX || type == MPI_LONG_DOUBLE_INT)
            *(long double *)at = value;
        else
            *at = type == MPI_C_BOOL ? (char)(value % 2) : (char)value;
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return_errors();
    static char expected[ROOM], data[ROOM];
    char *memory;
    int last = size - 1, tried = 0;
    MPI_Win win;
    ok(MPI_Win_allocate(ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    for (size_t t = 0; t < sizeof TYPES / sizeof *TYPES; t++) {
        for (size_t o = 0; o <= sizeof OPS / sizeof *OPS; o++) {
            MPI_Op op = o == sizeof OPS / sizeof *OPS ? MPI_REPLACE : OPS[o];
            numbers(memory, TYPES[t], 1);
            numbers(expected, TYPES[t], 1);
            numbers(data, TYPES[t], 2);
            int defined = 1;
            if (op == MPI_REPLACE)
                memcpy(expected, data, ROOM);
            else
                defined = class_of(MPI_Reduce_local(data, expected, COUNT, TYPES[t], op)) == MPI_SUCCESS;
            ok(MPI_Win_fence(0, win));
            int code = MPI_SUCCESS;
            if (rank == 0)
                code = MPI_Accumulate(data, COUNT, TYPES[t], last, 0, COUNT, TYPES[t], op, win);
            check_class(code, defined || rank != 0 ? MPI_SUCCESS : MPI_ERR_OP);
            ok(MPI_Win_fence(0, win));
            tried += defined;
            if (rank == last && defined && memcmp(memory, expected, ROOM) != 0) {
                fprintf(stderr, "type %zu, operation %zu\n", t, o);
                wrong++;
            }
        }
    }
    check(tried > 200);
    ok(MPI_Win_free(&win));
    return finish();
}
