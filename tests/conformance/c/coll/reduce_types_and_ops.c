/* Every predefined operation, on every type that it is defined on, has the result of a loop over the ranks' values:
 * reduce to every root, allreduce and reduce_local. */
#include "check.h"
#include <complex.h>
#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

enum { N = 37 };

/* Small values, so that products and sums are exact in every type; both zero and nonzero ones. */
static int value(int who, int i)
{
    return (who * 5 + i * 3) % 4;
}

#define FILL(T, to, who)                                                                                               \
    for (int i = 0; i < N; i++)                                                                                        \
    (to)[i] = (T)value(who, i)

/* One operation on one type; `combine` computes from a (the lower rank's) and b. */
#define TEST(T, type, op, combine)                                                                                     \
    do {                                                                                                               \
        T mine[N], result[N], expected[N], other[N];                                                                   \
        FILL(T, mine, rank);                                                                                           \
        FILL(T, expected, 0);                                                                                          \
        for (int who = 1; who < size; who++) {                                                                         \
            FILL(T, other, who);                                                                                       \
            for (int i = 0; i < N; i++) {                                                                              \
                T a = expected[i], b = other[i];                                                                       \
                expected[i] = (T)(combine);                                                                            \
            }                                                                                                          \
        }                                                                                                              \
        memset(result, 0, sizeof result);                                                                              \
        ok(MPI_Allreduce(mine, result, N, type, op, MPI_COMM_WORLD));                                                  \
        same(#type, #op, "allreduce", memcmp_of(T, result, expected));                                                 \
        for (int root = 0; root < size; root++) {                                                                      \
            memset(result, 0, sizeof result);                                                                          \
            ok(MPI_Reduce(mine, result, N, type, op, root, MPI_COMM_WORLD));                                           \
            if (rank == root)                                                                                          \
                same(#type, #op, "reduce", memcmp_of(T, result, expected));                                            \
        }                                                                                                              \
        FILL(T, other, 1);                                                                                             \
        FILL(T, result, 2);                                                                                            \
        for (int i = 0; i < N; i++) {                                                                                  \
            T a = other[i], b = result[i];                                                                             \
            expected[i] = (T)(combine);                                                                                \
        }                                                                                                              \
        ok(MPI_Reduce_local(other, result, N, type, op));                                                              \
        same(#type, #op, "reduce_local", memcmp_of(T, result, expected));                                              \
    } while (0)

/* Compared as values: the padding of a long double has no defined value. */
#define memcmp_of(T, x, y) __extension__({ int d = 0; for (int i = 0; i < N; i++) d |= (x)[i] != (y)[i]; d; })

static void same(const char *type, const char *op, const char *call, int differs)
{
    if (differs && wrong++ < 10)
        fprintf(stderr, "rank %d: %s of %s with %s is wrong\n", rank, call, type, op);
}

#define ARITHMETIC(T, type)                                                                                            \
    TEST(T, type, MPI_SUM, a + b);                                                                                     \
    TEST(T, type, MPI_PROD, a *b)
#define ORDER(T, type)                                                                                                 \
    TEST(T, type, MPI_MAX, a > b ? a : b);                                                                             \
    TEST(T, type, MPI_MIN, a < b ? a : b)
#define LOGICAL(T, type)                                                                                               \
    TEST(T, type, MPI_LAND, a &&b);                                                                                    \
    TEST(T, type, MPI_LOR, a || b);                                                                                    \
    TEST(T, type, MPI_LXOR, !a != !b)
#define BITWISE(T, type)                                                                                               \
    TEST(T, type, MPI_BAND, a &b);                                                                                     \
    TEST(T, type, MPI_BOR, a | b);                                                                                     \
    TEST(T, type, MPI_BXOR, a ^ b)
#define INTEGER(T, type)                                                                                               \
    ARITHMETIC(T, type);                                                                                               \
    ORDER(T, type);                                                                                                    \
    LOGICAL(T, type);                                                                                                  \
    BITWISE(T, type)
#define FLOATING(T, type)                                                                                              \
    ARITHMETIC(T, type);                                                                                               \
    ORDER(T, type)

static void integers(void)
{
    INTEGER(signed char, MPI_SIGNED_CHAR);
    INTEGER(unsigned char, MPI_UNSIGNED_CHAR);
    INTEGER(short, MPI_SHORT);
    INTEGER(char, MPI_CHAR);
    INTEGER(unsigned short, MPI_UNSIGNED_SHORT);
    INTEGER(int, MPI_INT);
    INTEGER(unsigned, MPI_UNSIGNED);
    INTEGER(long, MPI_LONG);
    INTEGER(unsigned long, MPI_UNSIGNED_LONG);
    INTEGER(long long, MPI_LONG_LONG);
    INTEGER(unsigned long long, MPI_UNSIGNED_LONG_LONG);
    INTEGER(int8_t, MPI_INT8_T);
    INTEGER(int16_t, MPI_INT16_T);
    INTEGER(int32_t, MPI_INT32_T);
    INTEGER(int64_t, MPI_INT64_T);
    INTEGER(uint8_t, MPI_UINT8_T);
    INTEGER(uint16_t, MPI_UINT16_T);
    INTEGER(uint32_t, MPI_UINT32_T);
    INTEGER(uint64_t, MPI_UINT64_T);
}

/* Logical operations on MPI_AINT and MPI_CHAR are not in the standard's table; all libraries have them. */
static void multi_language(void)
{
    LOGICAL(MPI_Aint, MPI_AINT);
    LOGICAL(MPI_Offset, MPI_OFFSET);
    LOGICAL(MPI_Count, MPI_COUNT);
    ARITHMETIC(MPI_Aint, MPI_AINT);
    ORDER(MPI_Aint, MPI_AINT);
    BITWISE(MPI_Aint, MPI_AINT);
    ARITHMETIC(MPI_Offset, MPI_OFFSET);
    ORDER(MPI_Offset, MPI_OFFSET);
    BITWISE(MPI_Offset, MPI_OFFSET);
    ARITHMETIC(MPI_Count, MPI_COUNT);
    ORDER(MPI_Count, MPI_COUNT);
    BITWISE(MPI_Count, MPI_COUNT);
}

static void floating(void)
{
    FLOATING(float, MPI_FLOAT);
    FLOATING(double, MPI_DOUBLE);
    FLOATING(long double, MPI_LONG_DOUBLE);
    ARITHMETIC(float complex, MPI_C_FLOAT_COMPLEX);
    ARITHMETIC(double complex, MPI_C_DOUBLE_COMPLEX);
    ARITHMETIC(long double complex, MPI_C_LONG_DOUBLE_COMPLEX);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    integers();
    multi_language();
    floating();
    LOGICAL(bool, MPI_C_BOOL);
    BITWISE(unsigned char, MPI_BYTE);
    return finish();
}
