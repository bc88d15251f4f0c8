/* MPI_IN_PLACE, where the standard allows it, has the same result as two buffers. */
#include "check.h"

enum { N = 1000 };

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int *data = malloc((size_t)size * N * sizeof *data), expected;
    for (int root = 0; root < size; root++) {
        for (int i = 0; i < N; i++)
            data[i] = rank + i;
        ok(MPI_Reduce(rank == root ? MPI_IN_PLACE : data, rank == root ? data : NULL, N, MPI_INT, MPI_SUM, root,
                      MPI_COMM_WORLD));
        for (int i = 0; i < N && rank == root; i++)
            check_equal(data[i], size * (size - 1) / 2 + size * i);

        for (int i = 0; i < N; i++)
            data[(rank == root ? rank * N : 0) + i] = rank * N + i;
        ok(MPI_Gather(rank == root ? MPI_IN_PLACE : (void *)data, N, MPI_INT, data, N, MPI_INT, root, MPI_COMM_WORLD));
        for (int i = 0; i < size * N && rank == root; i++)
            check_equal(data[i], i);

        for (int i = 0; i < size * N; i++)
            data[i] = rank == root ? 7 * i : -1;
        ok(MPI_Scatter(data, N, MPI_INT, rank == root ? MPI_IN_PLACE : (void *)data, N, MPI_INT, root, MPI_COMM_WORLD));
        for (int i = 0; i < N; i++)
            check_equal(data[rank == root ? rank * N + i : i], 7 * (rank * N + i));
    }
    for (int i = 0; i < N; i++)
        data[i] = rank * i;
    ok(MPI_Allreduce(MPI_IN_PLACE, data, N, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    for (int i = 0; i < N; i++)
        check_equal(data[i], (size - 1) * i);

    for (int i = 0; i < size * N; i++)
        data[i] = i / N == rank ? i : -1;
    ok(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, N, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < size * N; i++)
        check_equal(data[i], i);

    for (int i = 0; i < size * N; i++)
        data[i] = rank * 1000000 + i;
    ok(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, N, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < size * N; i++) {
        expected = i / N * 1000000 + rank * N + i % N;
        check_equal(data[i], expected);
    }
    free(data);
    return finish();
}
