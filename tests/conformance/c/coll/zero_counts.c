/* Collective calls without data succeed and access no buffer. */
#include "check.h"

int main(int argc, char **argv)
{
    int word = 5;
    begin(&argc, &argv);
    ok(MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD));
    ok(MPI_Reduce(&word, &word + 1, 0, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    ok(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    ok(MPI_Gather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD));
    ok(MPI_Scatter(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD));
    ok(MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD));
    ok(MPI_Alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD));
    check_equal(word, 5);
    /* Between calls of a root that does not wait for the others, as each second one. */
    for (int i = 0; i < 801; i++) {
        ok(MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD));
        if (i == 400) /* the others in the same places of the sequence from here on */
            continue;
        if (i % 2)
            ok(MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD));
        else
            ok(MPI_Alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD));
    }
    check_equal(word, 5);
    return finish();
}
