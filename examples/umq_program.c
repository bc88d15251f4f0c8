/* A program with long unexpected-message queues, whose slowness has no visible reason: rank 0 collects
 * results from all others, but receives them in another order than they are sent in. It uses no tool.
 *
 *   mpicc umq_program.c -o umq_program && mpiexec -n 4 ./umq_program
 */
#include <mpi.h>
#include <stdio.h>

enum { RESULTS = 100, STEPS = 5 };

/* Receives the last result first: until then, all the others wait in the queue. */
static long collect_badly(int sources)
{
    long sum = 0, result;
    for (int item = RESULTS - 1; item >= 0; item--)
        for (int source = 1; source <= sources; source++) {
            MPI_Recv(&result, 1, MPI_LONG, source, item, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            sum += result;
        }
    return sum;
}

/* Receives any message: the queue stays short while the receiver is as fast as the senders. */
static long collect_well(int sources)
{
    long sum = 0, result;
    int go = 1;
    for (int item = 0; item < RESULTS; item++)
        for (int source = 1; source <= sources; source++) {
            MPI_Send(&go, 1, MPI_INT, source, RESULTS, MPI_COMM_WORLD);
            MPI_Recv(&result, 1, MPI_LONG, source, item, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            sum += result;
        }
    return sum;
}

int main(int argc, char **argv)
{
    int rank, size, go;
    long sum = 0, expected;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 0; step < STEPS; step++) {
        int good = step % 2;
        if (rank == 0) {
            sum += good ? collect_well(size - 1) : collect_badly(size - 1);
        } else {
            for (int item = 0; item < RESULTS; item++) {
                long result = (long)rank * item;
                if (good)
                    MPI_Recv(&go, 1, MPI_INT, 0, RESULTS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(&result, 1, MPI_LONG, 0, item, MPI_COMM_WORLD);
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    expected = (long)STEPS * RESULTS * (RESULTS - 1) / 2 * size * (size - 1) / 2;
    if (rank == 0)
        printf("umq_program: sum of %d results is %ld (%s)\n", STEPS * RESULTS * (size - 1), sum,
               sum == expected ? "correct" : "WRONG");
    MPI_Finalize();
    return rank == 0 && sum != expected;
}
