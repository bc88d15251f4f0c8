/* A message of more than 2^31 bytes is received whole (its pages are zero except a few, to keep the test small). */
#define _GNU_SOURCE
#include "check.h"
#include <sys/mman.h>

int main(int argc, char **argv)
{
    MPI_Count length = ((MPI_Count)1 << 31) + 4097, count = -1;
    begin(&argc, &argv);
    char *memory = mmap(NULL, (size_t)length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                        -1, 0);
    check(memory != MAP_FAILED);
    MPI_Status status;
    if (rank == 0) {
        memory[0] = 1;
        memory[length / 2] = 2;
        memory[length - 1] = 3;
        ok(MPI_Send_c(memory, length, MPI_CHAR, 1, 1, MPI_COMM_WORLD));
    } else if (rank == 1) {
        ok(MPI_Recv_c(memory, length, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &status));
        ok(MPI_Get_count_c(&status, MPI_CHAR, &count));
        check_equal(count, length);
        int small = 0;
        ok(MPI_Get_count(&status, MPI_CHAR, &small));
        check_equal(small, MPI_UNDEFINED);
        check(memory[0] == 1 && memory[length / 2] == 2 && memory[length - 1] == 3 && memory[length - 2] == 0);
    }
    munmap(memory, (size_t)length);
    return finish();
}
