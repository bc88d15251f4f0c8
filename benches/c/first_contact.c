/* What it costs that pairs of processes communicate for the first time: the time of the first MPI_Alltoall of 4
 * bytes for each process; for each pair and direction the processor time and the memory of all processes, page
 * tables included; then the same call again. */
#include "bench.h"

enum { AGAIN = 20 };

/* Seconds of processor time of this process. */
static double worked(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The number of kB behind a name in a file, 0 without it. */
static double kb(const char *path, const char *name)
{
    char line[256];
    long value = 0;
    size_t length = strlen(name);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, length) == 0 && sscanf(line + length, ": %ld", &value) == 1)
            break;
    if (file)
        fclose(file);
    return (double)value;
}

/* Bytes of this process's share of the memory that no file backs, and of its page tables. A page that several processes
 * map counts as one for all of them together, so all have to have mapped what they use. */
static double used(void)
{
    const char *memory = "/proc/self/smaps_rollup";
    MPI_Barrier(MPI_COMM_WORLD);
    double kilobytes = kb(memory, "Pss_Anon") + kb(memory, "Pss_Shmem") + kb("/proc/self/status", "VmPTE");
    MPI_Barrier(MPI_COMM_WORLD);
    return 1024 * kilobytes;
}

/* The sum of a value of each process (`op` MPI_SUM) or the largest one, on rank 0. */
static double over_all(double mine, MPI_Op op)
{
    double all = 0;
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, op, 0, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int rank, size;
    char name[64];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *out = malloc((size_t)size * sizeof *out), *in = malloc((size_t)size * sizeof *in);
    for (int i = 0; i < size; i++) {
        out[i] = rank * size + i;
        in[i] = -1;
    }
    /* What reduction and barrier need themselves is in use afterwards. */
    over_all(used(), MPI_SUM);
    double before = over_all(used(), MPI_SUM);
    MPI_Barrier(MPI_COMM_WORLD);

    double work = worked(), began = now();
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    double took = now() - began;
    work = worked() - work;
    for (int i = 0; i < size; i++)
        if (in[i] != i * size + rank) {
            fprintf(stderr, "rank %d got %d from rank %d\n", rank, in[i], i);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    double after = over_all(used(), MPI_SUM);
    double pairs = (double)size * (size - 1);
    took = over_all(took, MPI_MAX);
    work = over_all(work, MPI_SUM) / pairs;

    double again[AGAIN];
    for (int i = 0; i < AGAIN; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        began = now();
        MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
        again[i] = now() - began;
    }
    double later = over_all(median(again, AGAIN), MPI_MAX);
    if (rank == 0) {
        snprintf(name, sizeof name, "first_contact/alltoall/%d", size);
        report(name, took * 1e3, "ms");
        snprintf(name, sizeof name, "first_contact/work/%d", size);
        report(name, work * 1e6, "us");
        snprintf(name, sizeof name, "first_contact/memory/%d", size);
        report(name, (after - before) / pairs, "bytes");
        snprintf(name, sizeof name, "first_contact/again/%d", size);
        report(name, later * 1e3, "ms");
    }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
