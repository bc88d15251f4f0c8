/* The size and the extent of every predefined C type are the size of its C type. */
#include "check.h"
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

static void expect(const char *name, MPI_Datatype type, size_t expected)
{
    int bytes = -1, before = wrong;
    MPI_Count large = -1, low_x = -1, extent_x = -1;
    MPI_Aint low = -1, extent = -1;
    ok(MPI_Type_size(type, &bytes));
    check_equal(bytes, expected);
    ok(MPI_Type_size_c(type, &large));
    check_equal(large, expected);
    ok(MPI_Type_get_extent(type, &low, &extent));
    check_equal(low, 0);
    check_equal(extent, expected);
    ok(MPI_Type_get_extent_c(type, &low_x, &extent_x));
    check_equal(extent_x, expected);
    if (wrong > before)
        fprintf(stderr, "... for %s\n", name);
}

#define EXPECT(type, T) expect(#type, type, sizeof(T))

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    EXPECT(MPI_CHAR, char);
    EXPECT(MPI_SIGNED_CHAR, signed char);
    EXPECT(MPI_UNSIGNED_CHAR, unsigned char);
    EXPECT(MPI_BYTE, char);
    EXPECT(MPI_PACKED, char);
    EXPECT(MPI_WCHAR, wchar_t);
    EXPECT(MPI_SHORT, short);
    EXPECT(MPI_UNSIGNED_SHORT, unsigned short);
    EXPECT(MPI_INT, int);
    EXPECT(MPI_UNSIGNED, unsigned);
    EXPECT(MPI_LONG, long);
    EXPECT(MPI_UNSIGNED_LONG, unsigned long);
    EXPECT(MPI_LONG_LONG, long long);
    EXPECT(MPI_LONG_LONG_INT, long long);
    EXPECT(MPI_UNSIGNED_LONG_LONG, unsigned long long);
    EXPECT(MPI_FLOAT, float);
    EXPECT(MPI_DOUBLE, double);
    EXPECT(MPI_LONG_DOUBLE, long double);
    EXPECT(MPI_C_BOOL, bool);
    EXPECT(MPI_INT8_T, int8_t);
    EXPECT(MPI_INT16_T, int16_t);
    EXPECT(MPI_INT32_T, int32_t);
    EXPECT(MPI_INT64_T, int64_t);
    EXPECT(MPI_UINT8_T, uint8_t);
    EXPECT(MPI_UINT16_T, uint16_t);
    EXPECT(MPI_UINT32_T, uint32_t);
    EXPECT(MPI_UINT64_T, uint64_t);
    EXPECT(MPI_AINT, MPI_Aint);
    EXPECT(MPI_OFFSET, MPI_Offset);
    EXPECT(MPI_COUNT, MPI_Count);
    EXPECT(MPI_C_COMPLEX, float complex);
    EXPECT(MPI_C_FLOAT_COMPLEX, float complex);
    EXPECT(MPI_C_DOUBLE_COMPLEX, double complex);
    EXPECT(MPI_C_LONG_DOUBLE_COMPLEX, long double complex);
    return finish();
}
