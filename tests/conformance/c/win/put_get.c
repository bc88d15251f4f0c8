/* Puts and gets transfer data to and from every process's window, at any size, between two fences. */
#include "check.h"

#define LARGEST (3 << 20)

static void round_of(MPI_Win win, char *memory, size_t length)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    char *out = malloc(length), *in = malloc(length);
    fill(out, length, rank);
    memset(in, 0, length);

    ok(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    ok(MPI_Put(out, (int)length, MPI_BYTE, next, 8, (int)length, MPI_BYTE, win));
    ok(MPI_Win_fence(0, win));
    check(filled(memory + 8, length, before));

    ok(MPI_Get(in, (int)length, MPI_BYTE, before, 8, (int)length, MPI_BYTE, win));
    ok(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    check(filled(in, length, (before + size - 1) % size));
    MPI_Barrier(MPI_COMM_WORLD);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    char *memory = malloc(LARGEST + 16);
    memset(memory, 0x55, LARGEST + 16);
    MPI_Win win;
    ok(MPI_Win_create(memory, LARGEST + 16, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    size_t lengths[] = {1, 7, 8, 64, 4096, 8191, 8192, 8193, 20000, 65536, 100001, LARGEST};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        round_of(win, memory, lengths[i]);
    for (int i = 0; i < 8; i++) {
        check_equal(memory[i], 0x55);
        check_equal(memory[LARGEST + 8 + i], 0x55);
    }

    /* Each process writes one word to every process, and reads all of them back. */
    int *words = (int *)memory, seen[64];
    memset(memory, 0, 64 * sizeof(int));
    ok(MPI_Win_fence(0, win));
    for (int target = 0; target < size; target++) {
        seen[target] = 1000 * rank + target;
        ok(MPI_Put(&seen[target], 1, MPI_INT, target, (MPI_Aint)sizeof(int) * rank, 1, MPI_INT, win));
    }
    ok(MPI_Win_fence(0, win));
    for (int origin = 0; origin < size; origin++)
        check_equal(words[origin], 1000 * origin + rank);
    int all[64][64];
    for (int target = 0; target < size; target++)
        ok(MPI_Get(all[target], size, MPI_INT, target, 0, size, MPI_INT, win));
    ok(MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOSUCCEED, win));
    for (int target = 0; target < size; target++)
        for (int origin = 0; origin < size; origin++)
            check_equal(all[target][origin], 1000 * origin + target);
    ok(MPI_Win_free(&win));
    check(win == MPI_WIN_NULL);
    free(memory);
    return finish();
}
