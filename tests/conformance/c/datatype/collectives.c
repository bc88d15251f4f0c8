/* Collective operations on derived types: movement with different layouts in the processes, and reductions by an
 * operation of the program, of a type with a negative lower bound; gaps stay as they were. */
#include "check.h"

enum { N = 4000 };

/* x -> a x + b, composed from left to right; b lies two doubles before a. */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    MPI_Aint lb = 0, extent = 0;
    MPI_Type_get_extent(*type, &lb, &extent);
    check(lb == -16 && extent == 40);
    for (int i = 0; i < *count; i++) {
        double *left = (double *)((char *)in + i * extent), *right = (double *)((char *)inout + i * extent);
        right[-2] = left[0] * right[-2] + left[-2];
        right[0] = left[0] * right[0];
    }
}

static double slope(int process, int i)
{
    return (process + i) % 3 == 0 ? 2 : 1;
}

int main(int argc, char **argv)
{
    MPI_Datatype strided, block, sparse;
    begin(&argc, &argv);
    return_errors();
    ok(MPI_Type_vector(N, 1, 2, MPI_INT, &strided));
    ok(MPI_Type_create_resized(strided, 0, 2 * N * sizeof(int), &sparse));
    ok(MPI_Type_free(&strided));
    ok(MPI_Type_contiguous(N, MPI_INT, &block));
    ok(MPI_Type_commit(&sparse));
    ok(MPI_Type_commit(&block));
    int *wide = malloc(2 * N * sizeof(int) * (size_t)size), *flat = malloc(N * sizeof(int) * (size_t)size);

    for (int root = 0; root < size; root++) {
        for (int i = 0; i < 2 * N; i++)
            wide[i] = rank == root ? i : -1;
        for (int i = 0; i < N; i++)
            flat[i] = rank == root ? 2 * i : -1;
        if (rank % 2 == root % 2)
            ok(MPI_Bcast(wide, 1, sparse, root, MPI_COMM_WORLD));
        else
            ok(MPI_Bcast(flat, N, MPI_INT, root, MPI_COMM_WORLD));
        for (int i = 0; i < N; i++)
            check(rank % 2 == root % 2 ? wide[2 * i] == 2 * i : flat[i] == 2 * i);
        check(rank == root || rank % 2 != root % 2 || wide[1] == -1);

        /* Gather contiguous blocks into sparse ones, scatter them back. */
        for (int i = 0; i < 2 * N * size; i++)
            wide[i] = -1;
        for (int i = 0; i < N; i++)
            flat[i] = rank * N + i;
        ok(MPI_Gather(flat, N, MPI_INT, wide, 1, sparse, root, MPI_COMM_WORLD));
        if (rank == root)
            for (int i = 0; i < N * size; i++)
                check(wide[2 * i] == i && wide[2 * i + 1] == -1);
        for (int i = 0; i < N; i++)
            flat[i] = -1;
        ok(MPI_Scatter(wide, 1, sparse, flat, 1, block, root, MPI_COMM_WORLD));
        for (int i = 0; i < N; i++)
            check(flat[i] == rank * N + i);
    }
    for (int i = 0; i < N; i++)
        flat[i] = rank * N + i;
    ok(MPI_Allgather(flat, 1, block, wide, 1, sparse, MPI_COMM_WORLD));
    for (int i = 0; i < N * size; i++)
        check(wide[2 * i] == i && wide[2 * i + 1] == -1 - 0 * i);
    for (int i = 0; i < N * size; i++)
        flat[i] = -1;
    ok(MPI_Alltoall(wide, 1, sparse, flat, N, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < N * size; i++)
        check(flat[i] == rank * N + i % N);
    free(wide);
    free(flat);
    ok(MPI_Type_free(&sparse));
    ok(MPI_Type_free(&block));

    /* Reductions. */
    MPI_Datatype pair, map;
    MPI_Op op;
    const int ones[] = {1, 1};
    const MPI_Aint places[] = {0, -16};
    ok(MPI_Op_create(compose, 0, &op));
    ok(MPI_Type_create_hindexed(2, ones, places, MPI_DOUBLE, &pair));
    ok(MPI_Type_create_resized(pair, -16, 40, &map));
    ok(MPI_Type_commit(&map));
    ok(MPI_Type_free(&pair));
    const int counts[] = {1, 3, 900};
    for (int c = 0; c < 3; c++) {
        int count = counts[c];
        double *mine = malloc(5 * (size_t)count * 8), *result = malloc(5 * (size_t)count * 8);
        for (int in_place = 0; in_place < 2; in_place++)
            for (int root = -1; root < size; root++) {
                for (int i = 0; i < 5 * count; i++)
                    mine[i] = result[i] = -7;
                for (int i = 0; i < count; i++)
                    mine[5 * i + 2] = slope(rank, i), mine[5 * i] = rank + 1;
                if (in_place)
                    memcpy(result, mine, 5 * (size_t)count * 8);
                const void *send = in_place && (root < 0 || root == rank) ? MPI_IN_PLACE : mine + 2;
                if (root < 0)
                    ok(MPI_Allreduce(send, result + 2, count, map, op, MPI_COMM_WORLD));
                else
                    ok(MPI_Reduce(send, result + 2, count, map, op, root, MPI_COMM_WORLD));
                for (int i = 0; i < count && (root < 0 || root == rank); i++) {
                    double a = 1, b = 0;
                    for (int process = 0; process < size; process++)
                        b += a * (process + 1), a *= slope(process, i);
                    check(result[5 * i + 2] == a && result[5 * i] == b);
                    check(result[5 * i + 1] == -7 && result[5 * i + 3] == -7 && result[5 * i + 4] == -7);
                }
            }
        /* Rank 0's and its own, without communication. */
        for (int i = 0; i < count; i++)
            mine[5 * i + 2] = 3, mine[5 * i] = 4, result[5 * i + 2] = 5, result[5 * i] = 6;
        ok(MPI_Reduce_local(mine + 2, result + 2, count, map, op));
        check(result[5 * count - 3] == 15 && result[5 * count - 5] == 22);
        free(mine);
        free(result);
    }
    /* Predefined operations take no derived types. */
    double a = 0, b = 0;
    check_class(MPI_Allreduce(&a, &b, 0, map, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_OP);
    ok(MPI_Type_free(&map));
    ok(MPI_Op_free(&op));
    return finish();
}
