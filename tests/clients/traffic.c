/* Rank 0 sends 10 messages of 100 bytes to rank 1, which answers each with 3 of 7 bytes. */
#include <mpi.h>

int main(int argc, char **argv)
{
    char bytes[100] = "";
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; i++) {
        if (rank == 0)
            MPI_Send(bytes, 100, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        else
            MPI_Recv(bytes, 100, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int answer = 0; answer < 3; answer++) {
            if (rank == 1)
                MPI_Send(bytes, 7, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
            else
                MPI_Recv(bytes, 7, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Finalize();
    return 0;
}
