/* User operations get the datatype that the program passed to the reduction, predefined or made, in every reduction, in
 * both forms, for short and for long data. */
#include "check.h"

enum { MOST = 30000 };

static MPI_Datatype expected;
static long calls;

static void combine(const int *in, int *inout, long ints)
{
    for (long i = 0; i < ints; i++)
        inout[i] += in[i];
}

static long ints_of(MPI_Datatype type, long length)
{
    int bytes = 0;
    check(type == expected);
    MPI_Type_size(type, &bytes);
    calls++;
    return length * (bytes / (int)sizeof(int));
}

static void op(void *in, void *inout, int *length, MPI_Datatype *type)
{
    combine(in, inout, ints_of(*type, *length));
}

static void op_c(void *in, void *inout, MPI_Count *length, MPI_Datatype *type)
{
    combine(in, inout, ints_of(*type, (long)*length));
}

static int in[MOST], out[MOST], copy[MOST];

static void start(int ints)
{
    for (int i = 0; i < ints; i++) {
        in[i] = copy[i] = rank + i;
        out[i] = -1;
    }
}

static void sums(const int *data, int ints, int root)
{
    for (int i = 0; i < ints; i++)
        if (root < 0 || root == rank)
            check_equal(data[i], size * i + size * (size - 1) / 2);
}

/* All reductions of `count` elements, which are `ints` ints. */
static void reductions(MPI_Op sum, MPI_Datatype type, int count, int ints)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    long least = 0, all = 0;
    expected = type;
    calls = 0;
    start(ints);
    ok(MPI_Allreduce(in, out, count, type, sum, comm));
    sums(out, ints, -1);
    ok(MPI_Allreduce(MPI_IN_PLACE, copy, count, type, sum, comm));
    sums(copy, ints, -1);
    start(ints);
    ok(MPI_Allreduce_c(in, out, count, type, sum, comm));
    sums(out, ints, -1);
    for (int root = 0; root < size; root += size > 1 ? size - 1 : 1) {
        start(ints);
        ok(MPI_Reduce(in, out, count, type, sum, root, comm));
        sums(out, ints, root);
        ok(rank == root ? MPI_Reduce(MPI_IN_PLACE, copy, count, type, sum, root, comm)
                        : MPI_Reduce(copy, NULL, count, type, sum, root, comm));
        sums(copy, ints, root);
        start(ints);
        ok(MPI_Reduce_c(in, out, count, type, sum, root, comm));
        sums(out, ints, root);
    }
    /* Ranks whose data others combine need no call, but somebody does. */
    ok(MPI_Allreduce(&calls, &all, 1, MPI_LONG, MPI_SUM, comm));
    check(size == 1 || all > 0);
    start(ints);
    least = calls;
    ok(MPI_Reduce_local(in, copy, count, type, sum));
    ok(MPI_Reduce_local_c(in, copy, count, type, sum));
    check(calls >= least + 2);
    for (int i = 0; i < ints; i++)
        check_equal(copy[i], 3 * (rank + i));
}

int main(int argc, char **argv)
{
    MPI_Op ops[4];
    MPI_Datatype pair, named;
    begin(&argc, &argv);
    return_errors();
    ok(MPI_Type_contiguous(2, MPI_INT, &pair));
    ok(MPI_Type_commit(&pair));
    ok(MPI_Type_dup(MPI_INT, &named));
    ok(MPI_Op_create(op, 1, &ops[0]));
    ok(MPI_Op_create(op, 0, &ops[1]));
    ok(MPI_Op_create_c(op_c, 1, &ops[2]));
    ok(MPI_Op_create_c(op_c, 0, &ops[3]));
    for (int i = 0; i < 4; i++) {
        for (int count = 1; count <= MOST / 2; count = count == 1 ? 100 : count == 100 ? MOST / 2 : MOST) {
            reductions(ops[i], MPI_INT, count, count);
            reductions(ops[i], MPI_INT32_T, count, count);
            reductions(ops[i], named, count, count);
            reductions(ops[i], pair, count, 2 * count);
        }
        /* A buffer of bytes that the operation takes for ints. */
        reductions(ops[i], MPI_LONG_LONG, 10, 20);
        ok(MPI_Op_free(&ops[i]));
    }
    ok(MPI_Type_free(&pair));
    ok(MPI_Type_free(&named));
    return finish();
}
