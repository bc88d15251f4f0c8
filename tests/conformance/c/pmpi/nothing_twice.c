/* The library never calls its own public names: in collectives, duplication, waits and finalizing, an overriding
 * function is called only by the program. */
#include "check.h"

static int seen;

#define SEEN(name, parameters, arguments)                                                                              \
    int name parameters                                                                                                \
    {                                                                                                                  \
        seen++;                                                                                                        \
        return P##name arguments;                                                                                      \
    }

SEEN(MPI_Send, (const void *b, int n, MPI_Datatype t, int d, int g, MPI_Comm c), (b, n, t, d, g, c))
SEEN(MPI_Isend, (const void *b, int n, MPI_Datatype t, int d, int g, MPI_Comm c, MPI_Request *r), (b, n, t, d, g, c, r))
SEEN(MPI_Recv, (void *b, int n, MPI_Datatype t, int s, int g, MPI_Comm c, MPI_Status *u), (b, n, t, s, g, c, u))
SEEN(MPI_Irecv, (void *b, int n, MPI_Datatype t, int s, int g, MPI_Comm c, MPI_Request *r), (b, n, t, s, g, c, r))
SEEN(MPI_Wait, (MPI_Request *r, MPI_Status *s), (r, s))
SEEN(MPI_Waitall, (int n, MPI_Request *r, MPI_Status *s), (n, r, s))
SEEN(MPI_Test, (MPI_Request *r, int *f, MPI_Status *s), (r, f, s))
SEEN(MPI_Bcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))
SEEN(MPI_Reduce, (const void *i, void *o, int n, MPI_Datatype t, MPI_Op p, int root, MPI_Comm c),
     (i, o, n, t, p, root, c))
SEEN(MPI_Reduce_local, (const void *i, void *o, int n, MPI_Datatype t, MPI_Op p), (i, o, n, t, p))
SEEN(MPI_Barrier, (MPI_Comm c), (c))
SEEN(MPI_Comm_rank, (MPI_Comm c, int *n), (c, n))
SEEN(MPI_Comm_size, (MPI_Comm c, int *n), (c, n))
SEEN(MPI_Type_size, (MPI_Datatype t, int *n), (t, n))
SEEN(MPI_Init_thread, (int *a, char ***b, int l, int *p), (a, b, l, p))
SEEN(MPI_Buffer_detach, (void *a, int *n), (a, n))

int main(int argc, char **argv)
{
    int value = 1, sum = 0;
    MPI_Comm other;
    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    int *all = malloc((size_t)size * 2 * sizeof *all);
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    ok(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, other));
    check_equal(sum, size);
    ok(MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, other));
    ok(MPI_Alltoall(all, 1, MPI_INT, all + size, 1, MPI_INT, other));
    ok(MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, other));
    ok(MPI_Scatter(all, 1, MPI_INT, &value, 1, MPI_INT, 0, other));
    ok(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &value, 1, MPI_INT, (rank + size - 1) % size, 0, other,
                    MPI_STATUS_IGNORE));
    check_equal(value, (rank + size - 1) % size);
    ok(MPI_Comm_free(&other));
    free(all);
    check_equal(seen, 0);
    PMPI_Allreduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    if (seen && rank == 0)
        sum++;
    return verdict(sum);
}
