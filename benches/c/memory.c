/* Resident memory of a rank in MB (10^6 bytes), the largest over the ranks, after every
 * pair has exchanged a message. */
#include "bench.h"

static double resident(void)
{
    char line[256];
    long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return (double)kib * 1024e-6;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int rank, size, word = 0, other;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 1; step < size; step++)
        MPI_Sendrecv(&word, 1, MPI_INT, (rank + step) % size, 0, &other, 1, MPI_INT, (rank + size - step) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double mine = resident(), largest = 0;
    MPI_Reduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        report("memory/2", largest, "MB");
    MPI_Finalize();
    return 0;
}
