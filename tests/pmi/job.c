/* A token is sent around and ranks are added up; then the last rank ends as the argument selects, and the others
 * wait for it. Built with several libraries: it uses only functions that all have. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *task = argc > 1 ? argv[1] : "";
    int rank, size, token = 1, sum = 0, found, *program;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0) {
        MPI_Recv(&token, 1, MPI_INT, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        token++;
    }
    if (size > 1)
        MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD);
    if (rank == 0 && size > 1)
        MPI_Recv(&token, 1, MPI_INT, size - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &program, &found);
    if (rank == size - 1) {
        if (!strcmp(task, "abort"))
            MPI_Abort(MPI_COMM_WORLD, 42);
        if (!strcmp(task, "exit"))
            exit(3);
        if (!strcmp(task, "leave"))
            exit(0);
        if (!strcmp(task, "crash"))
            abort();
    }
    if (!strcmp(task, "abort") || !strcmp(task, "exit") || !strcmp(task, "leave") || !strcmp(task, "crash"))
        MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(task, "program"))
        printf("rank %d program %d\n", rank, found ? *program : -1);
    if (rank == 0)
        printf("size %d token %d sum %d\n", size, token, sum);
    MPI_Finalize();
    return !strcmp(task, "code") && rank == size - 1 ? 5 : 0;
}
