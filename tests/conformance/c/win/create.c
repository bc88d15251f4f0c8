/* Windows of any size, also of 0 bytes; several over the same memory; hundreds at a time; thousands one after
 * another. */
#include "check.h"

enum { MANY = 300, ROUNDS = 400 };

static void exchange(MPI_Win win, int *memory, int value)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size, out = value + rank;
    ok(MPI_Win_fence(0, win));
    ok(MPI_Put(&out, 1, MPI_INT, next, 0, 1, MPI_INT, win));
    ok(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    check_equal(*memory, value + before);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    static int memory[4];
    static MPI_Win wins[MANY];
    MPI_Win win;
    int *own = NULL;

    ok(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    ok(MPI_Win_fence(0, win));
    ok(MPI_Win_fence(0, win));
    ok(MPI_Win_free(&win));
    ok(MPI_Win_allocate(0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win));
    ok(MPI_Win_free(&win));

    MPI_Info info;
    ok(MPI_Info_create(&info));
    ok(MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096"));
    ok(MPI_Win_allocate(sizeof(int) * 100, sizeof(int), info, MPI_COMM_WORLD, &own, &win));
    check_equal((MPI_Aint)own % 4096, 0);
    exchange(win, own, 77);
    ok(MPI_Win_free(&win));
    ok(MPI_Info_free(&info));

    for (int i = 0; i < MANY; i++)
        ok(MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &wins[i]));
    for (int i = 0; i < MANY; i += 7) {
        exchange(wins[i], memory, i);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < MANY; i += 2)
        ok(MPI_Win_free(&wins[i]));
    exchange(wins[1], memory, 1000);
    for (int i = 1; i < MANY; i += 2)
        ok(MPI_Win_free(&wins[i]));
    for (int i = 0; i < ROUNDS; i++) {
        ok(MPI_Win_allocate(sizeof(int) * 4, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win));
        ok(MPI_Win_fence(0, win));
        ok(MPI_Accumulate(&i, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, MPI_REPLACE, win));
        ok(MPI_Win_fence(0, win));
        check_equal(*own, i);
        ok(MPI_Win_free(&win));
    }
    return finish();
}
