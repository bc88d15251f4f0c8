/* A user's operation is applied in rank order when it is not commutative, gets the type of the call and lengths that
 * add up to the count, and has a large-count form. The operation multiplies 2x2 matrices, passed as four values
 * each. */
#include "check.h"

enum { MATRICES = 500, N = MATRICES * 4 };

static MPI_Datatype seen;
static int odd_lengths;

static void multiply(const unsigned *a, unsigned *b, long matrices)
{
    for (long m = 0; m < matrices; m++, a += 4, b += 4) {
        unsigned product[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
                               a[2] * b[1] + a[3] * b[3]};
        memcpy(b, product, sizeof product);
    }
}

/* First an addition of single values: a call may have any length. */
static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    seen = *type;
    for (int i = 0; i < *length; i++)
        ((unsigned *)inout)[i] += ((unsigned *)in)[i];
}

/* The result is the right-hand value: associative and not commutative; a call may have any length. */
static void last(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)length, (void)type;
}

static void last_c(void *in, void *inout, MPI_Count *length, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)length, (void)type;
}

/* Matrices need multiples of four values, which a reduction of four values guarantees. */
static void matrix(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    odd_lengths += *length % 4 != 0;
    multiply(in, inout, *length / 4);
}

int main(int argc, char **argv)
{
    static unsigned mine[N], result[N];
    MPI_Op op;
    int flag = -1;
    begin(&argc, &argv);

    ok(MPI_Op_create(add, 1, &op));
    ok(MPI_Op_commutative(op, &flag));
    check(flag);
    for (unsigned i = 0; i < N; i++)
        mine[i] = i + (unsigned)rank;
    ok(MPI_Allreduce(mine, result, N, MPI_UNSIGNED, op, MPI_COMM_WORLD));
    for (unsigned i = 0; i < N; i++)
        check_equal(result[i], (unsigned)size * i + (unsigned)(size * (size - 1) / 2));
    /* The operation is not called in a rank whose values other ranks combine. */
    check(!seen || seen == MPI_UNSIGNED);
    ok(MPI_Op_free(&op));
    check(op == MPI_OP_NULL);

    ok(MPI_Op_create(last, 0, &op));
    ok(MPI_Op_commutative(op, &flag));
    check(!flag);
    for (int length = 1; length <= N; length *= 10) {
        for (int i = 0; i < length; i++)
            mine[i] = (unsigned)(rank * 10000 + i);
        ok(MPI_Allreduce(mine, result, length, MPI_UNSIGNED, op, MPI_COMM_WORLD));
        for (int i = 0; i < length; i++)
            check_equal(result[i], (size - 1) * 10000 + i);
    }
    ok(MPI_Op_free(&op));

    ok(MPI_Op_create(matrix, 0, &op));
    unsigned own[4] = {1, (unsigned)rank + 1, (unsigned)rank + 2, 1}, expected[4] = {1, 1, 2, 1}, product[4];
    for (unsigned who = 1; who < (unsigned)size; who++) {
        unsigned next[4] = {1, who + 1, who + 2, 1};
        multiply(expected, next, 1);
        memcpy(expected, next, sizeof next);
    }
    for (int root = 0; root < size; root++) {
        memset(product, 0, sizeof product);
        ok(MPI_Reduce(own, product, 4, MPI_UNSIGNED, op, root, MPI_COMM_WORLD));
        check(rank != root || memcmp(product, expected, sizeof product) == 0);
    }
    ok(MPI_Allreduce(MPI_IN_PLACE, own, 4, MPI_UNSIGNED, op, MPI_COMM_WORLD));
    check(memcmp(own, expected, sizeof own) == 0);
    check_equal(odd_lengths, 0);
    ok(MPI_Op_free(&op));

    ok(MPI_Op_create_c(last_c, 0, &op));
    unsigned a = (unsigned)rank, b = 99;
    ok(MPI_Allreduce_c(&a, &b, 1, MPI_UNSIGNED, op, MPI_COMM_WORLD));
    check_equal(b, size - 1);
    ok(MPI_Op_free(&op));
    ok(MPI_Op_commutative(MPI_SUM, &flag));
    check(flag);
    return finish();
}
