/* A reduction combines elements that are longer than what a process passes on at once. */
#include "check.h"

enum { LENGTH = 40000, COUNT = 2 };

static void add(void *in, void *inout, int *count, MPI_Datatype *datatype)
{
    (void)datatype;
    for (int i = 0; i < *count * LENGTH; i++)
        ((double *)inout)[i] += ((double *)in)[i];
}

static void check_sum(double *out)
{
    int different = 0;
    for (int i = 0; i < COUNT * LENGTH; i++) {
        different += out[i] != (double)size * i + size * (size - 1) / 2;
        out[i] = -1;
    }
    check_equal(different, 0);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Datatype element;
    MPI_Op sum;
    MPI_Request request;
    double *in = malloc(COUNT * LENGTH * sizeof *in), *out = malloc(COUNT * LENGTH * sizeof *out);
    ok(MPI_Type_contiguous(LENGTH, MPI_DOUBLE, &element));
    ok(MPI_Type_commit(&element));
    ok(MPI_Op_create(add, 1, &sum));
    for (int i = 0; i < COUNT * LENGTH; i++)
        in[i] = i + rank;
    ok(MPI_Allreduce(in, out, COUNT, element, sum, MPI_COMM_WORLD));
    check_sum(out);
    ok(MPI_Iallreduce(in, out, COUNT, element, sum, MPI_COMM_WORLD, &request));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_sum(out);
    for (int root = 0; root < size; root++) {
        ok(MPI_Reduce(in, out, COUNT, element, sum, root, MPI_COMM_WORLD));
        if (rank == root)
            check_sum(out);
    }
    ok(MPI_Op_free(&sum));
    ok(MPI_Type_free(&element));
    free(in);
    free(out);
    return finish();
}
