/* The size of a pair type is the sum of its two parts, its extent that of the C structure; messages of pairs carry
 * both parts. */
#include "check.h"

#define TEST(T, type)                                                                                                  \
    do {                                                                                                               \
        struct pair { T value; int index; } out[5], in[5];                                                             \
        int bytes = -1;                                                                                                \
        MPI_Aint low = -1, extent = -1;                                                                                \
        MPI_Request request;                                                                                           \
        ok(MPI_Type_size(type, &bytes));                                                                               \
        check_equal(bytes, sizeof(T) + sizeof(int));                                                                   \
        ok(MPI_Type_get_extent(type, &low, &extent));                                                                  \
        check_equal(low, 0);                                                                                           \
        check_equal(extent, sizeof(struct pair));                                                                      \
        for (int i = 0; i < 5; i++)                                                                                    \
            out[i].value = (T)(i * 3), out[i].index = -i;                                                              \
        memset(in, 0, sizeof in);                                                                                      \
        ok(MPI_Isend(out, 5, type, 0, 0, MPI_COMM_SELF, &request));                                                    \
        ok(MPI_Recv(in, 5, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));                                             \
        ok(MPI_Wait(&request, MPI_STATUS_IGNORE));                                                                     \
        for (int i = 0; i < 5; i++)                                                                                    \
            check(in[i].value == (T)(i * 3) && in[i].index == -i);                                                     \
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
