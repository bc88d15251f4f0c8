/* Prints, rank by rank, the entries of MPI_INFO_ENV. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const char *keys[] = {"maxprocs", "soft", "host", "arch", "file"};
    char line[1000];
    int rank, at;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    at = sprintf(line, "rank %d:", rank);
    for (int i = 0; i < 5; i++) {
        char value[100];
        int length = sizeof value, flag;
        MPI_Info_get_string(MPI_INFO_ENV, keys[i], &length, value, &flag);
        if (flag && (i < 2 || argc > 1))
            at += sprintf(line + at, " %s=%s", keys[i], value);
    }
    puts(line);
    MPI_Finalize();
    return 0;
}
