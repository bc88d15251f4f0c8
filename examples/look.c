/* A job to look at from outside, with mpitop, mpiexec --stats, --hang-report and --timeline: docs/observe.md has the
 * examples.
 *
 *   mpicc -g look.c -o look
 *   mpiexec -n 4 ./look ring 20     each rank passes messages to the next one for 20 s
 *   mpiexec -n 4 ./look late        rank r sends r messages of 1000 bytes to rank 0, which receives them late
 *   mpiexec -n 4 ./look late die    the same, and the last rank ends by _exit(9)
 *   mpiexec -n 3 ./look crash       rank 1 crashes while the others wait for it
 *   mpiexec -n 4 ./look tag         rank 0 receives with tag 7, and rank 1 has sent with tag 8: the job hangs
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char buffer[1 << 16];
static int rank, size;

static void ring(double seconds)
{
    int bytes = 8, goes_on = 1;
    double end = MPI_Wtime() + seconds;
    while (goes_on) {
        int next = (rank + 1) % size, last = (rank + size - 1) % size;
        for (int i = 0; i < 100; i++) {
            MPI_Sendrecv(buffer, bytes, MPI_CHAR, next, 1, buffer + (1 << 15), 1 << 15, MPI_CHAR, last, 1,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            bytes = bytes < 1 << 14 ? bytes * 2 : 8;
        }
        goes_on = MPI_Wtime() < end;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

static void late(void)
{
    if (rank == 0) {
        for (int from = 1; from < size; from++)
            MPI_Recv(buffer, 0, MPI_CHAR, from, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int from = 1; from < size; from++)
            for (int i = 0; i < from; i++)
                MPI_Recv(buffer, 1000, MPI_CHAR, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        for (int i = 0; i < rank; i++)
            MPI_Send(buffer, 1000, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
        MPI_Send(buffer, 0, MPI_CHAR, 0, 4, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

__attribute__((noinline)) static void crash(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        *(volatile int *)(size_t)buffer[1] = 1;
    MPI_Recv(buffer, 1, MPI_CHAR, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void tag(void)
{
    int word = rank;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Recv(&word, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (rank == 1)
        MPI_Send(&word, 1, MPI_INT, 0, 8, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(mode, "ring") == 0)
        ring(argc > 2 ? atof(argv[2]) : 20);
    else if (strcmp(mode, "late") == 0)
        late();
    else if (strcmp(mode, "crash") == 0)
        crash();
    else if (strcmp(mode, "tag") == 0 && size > 1)
        tag();
    else if (rank == 0)
        fprintf(stderr, "look ring SECONDS | late [die] | crash | tag\n");
    if (argc > 2 && strcmp(argv[2], "die") == 0 && rank == size - 1)
        _exit(9);
    MPI_Finalize();
    return 0;
}
