/* Waits for ranks with which nothing was exchanged, when the host of these is lost: `waits FOLDER`. The ranks 0 and 1
   are on one host, and 2 and 3 on the host that is lost. No process sends anything. */
#include "step.h"

int main(int argc, char **argv)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int rank, value, length, class, code = MPI_SUCCESS;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 9);
    folder = argv[1];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    reach(rank);
    if (rank == 0)
        code = MPI_Recv(&value, 1, MPI_INT, 3, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1)
        code = MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank < 2) {
        MPI_Error_class(code, &class);
        MPI_Error_string(code, text, &length);
        const char *name = class == MPI_ERR_PROC_ABORTED ? "MPI_ERR_PROC_ABORTED" : "another class";
        printf("rank %d: %s %s\n", rank, name, text);
        fflush(stdout);
        reach(4 + rank);
    }
    for (;;)
        pause();
}
