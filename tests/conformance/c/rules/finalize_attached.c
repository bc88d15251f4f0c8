/* A process that has sent in buffered mode finalises without detaching; afterwards the buffer is detached and can be
 * freed. */
#include "check.h"

enum { COUNT = 1000000 };

int main(int argc, char **argv)
{
    int *buffer = NULL, *data = malloc(COUNT * sizeof *data);
    begin(&argc, &argv);
    if (rank == 0) {
        int room = COUNT * (int)sizeof(int) + MPI_BSEND_OVERHEAD;
        buffer = malloc((size_t)room);
        for (int i = 0; i < COUNT; i++)
            data[i] = i;
        ok(MPI_Buffer_attach(buffer, room));
        ok(MPI_Bsend(data, COUNT, MPI_INT, 1, 0, MPI_COMM_WORLD));
        memset(data, 0, COUNT * sizeof *data);
    } else if (rank == 1) {
        ok(MPI_Recv(data, COUNT, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < COUNT; i += 999)
            check_equal(data[i], i);
    }
    MPI_Finalize();
    free(buffer);
    free(data);
    if (rank == 0 && wrong == 0)
        printf("No Errors\n");
    return wrong != 0;
}
