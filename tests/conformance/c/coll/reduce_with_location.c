/* MPI_MAXLOC and MPI_MINLOC give the extreme value with the lowest index among equals, on every pair type. */
#include "check.h"

enum { N = 19 };

static int value(int who, int i)
{
    return (who * 3 + i) % 5 - 2;
}

#define TEST(T, type)                                                                                                  \
    do {                                                                                                               \
        struct { T value; int index; } mine[N], most[N], least[N];                                                     \
        memset(most, 0, sizeof most);                                                                                  \
        memset(least, 0, sizeof least);                                                                                \
        for (int i = 0; i < N; i++) {                                                                                  \
            mine[i].value = (T)value(rank, i);                                                                         \
            mine[i].index = rank;                                                                                      \
        }                                                                                                              \
        ok(MPI_Allreduce(mine, most, N, type, MPI_MAXLOC, MPI_COMM_WORLD));                                            \
        ok(MPI_Reduce(mine, least, N, type, MPI_MINLOC, size - 1, MPI_COMM_WORLD));                                    \
        for (int i = 0; i < N; i++) {                                                                                  \
            int high = 0, low = 0;                                                                                     \
            for (int who = 1; who < size; who++) {                                                                     \
                if (value(who, i) > value(high, i))                                                                    \
                    high = who;                                                                                        \
                if (value(who, i) < value(low, i))                                                                     \
                    low = who;                                                                                         \
            }                                                                                                          \
            check(most[i].value == (T)value(high, i) && most[i].index == high);                                        \
            check(rank != size - 1 || (least[i].value == (T)value(low, i) && least[i].index == low));                  \
        }                                                                                                              \
    } while (0)

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    TEST(float, MPI_FLOAT_INT);
    TEST(double, MPI_DOUBLE_INT);
    TEST(long, MPI_LONG_INT);
    TEST(int, MPI_2INT);
    TEST(short, MPI_SHORT_INT);
    TEST(long double, MPI_LONG_DOUBLE_INT);
    return finish();
}
