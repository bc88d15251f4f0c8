/* A program whose calls are known: 3 barriers, 5 messages of 4 ints from rank 1 to rank 0 (none if the argument is
 * "alone"), one allreduce of 2 doubles;
 * with the argument "die", rank 1 kills itself while rank 0 waits in MPI_Recv for a message. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, data[4] = {1, 2, 3, 4};
    double in[2] = {1, 2}, out[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 3; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    int messages = argc > 1 && strcmp(argv[1], "alone") == 0 ? 0 : 5;
    for (int i = 0; i < messages; i++)
        if (rank == 1)
            MPI_Send(data, 4, MPI_INT, 0, 7, MPI_COMM_WORLD);
        else if (rank == 0)
            MPI_Recv(data, 4, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(in, out, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (argc > 1 && strcmp(argv[1], "die") == 0) {
        if (rank == 1)
            raise(SIGKILL);
        MPI_Recv(data, 4, MPI_INT, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Pcontrol(2, "text", 3.5);
    MPI_Finalize();
    if (rank == 0)
        printf("program: sum %g\n", out[0]);
    return 0;
}
