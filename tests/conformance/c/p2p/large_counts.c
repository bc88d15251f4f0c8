/* The _c functions take counts above two thousand million: here the size of a receive buffer of which only a small
 * part is used. */
#define _GNU_SOURCE
#include "check.h"
#include <sys/mman.h>

int main(int argc, char **argv)
{
    MPI_Count room = (MPI_Count)3 << 30, count = -1;
    begin(&argc, &argv);
    char *memory = mmap(NULL, (size_t)room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    check(memory != MAP_FAILED);
    MPI_Status status;
    MPI_Request request;
    char text[] = "only a little";
    if (rank == 0) {
        ok(MPI_Send_c(text, (MPI_Count)sizeof text, MPI_CHAR, 1, 1, MPI_COMM_WORLD));
        ok(MPI_Send_c(text, (MPI_Count)sizeof text, MPI_CHAR, 1, 2, MPI_COMM_WORLD));
        /* Nothing is sent, so nothing is read. */
        ok(MPI_Send_c(memory, room, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    } else if (rank == 1) {
        ok(MPI_Recv_c(memory, room, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &status));
        check(strcmp(memory, text) == 0);
        ok(MPI_Get_count_c(&status, MPI_CHAR, &count));
        check_equal(count, sizeof text);
        ok(MPI_Irecv_c(memory + 64, room - 64, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &request));
        ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check(strcmp(memory + 64, text) == 0);
    }
    munmap(memory, (size_t)room);
    return finish();
}
