/* Types with gaps: the data bytes arrive, the padding of the target is unchanged. */
#include "check.h"

struct pair {
    double value;
    int index;
    char padding[4];
};

enum { PAIRS = 3000 };

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    struct pair *memory = malloc(PAIRS * sizeof *memory), *out = malloc(PAIRS * sizeof *out);
    struct pair *in = malloc(PAIRS * sizeof *in);
    memset(memory, 0x77, PAIRS * sizeof *memory);
    memset(in, 0x33, PAIRS * sizeof *in);
    for (int i = 0; i < PAIRS; i++) {
        out[i].value = rank * 10000.0 + i;
        out[i].index = i;
        memset(out[i].padding, 0x11, 4);
    }
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Win win;
    /* The last pair's padding does not belong to the window. */
    ok(MPI_Win_create(memory, PAIRS * (MPI_Aint)sizeof *memory - 4, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD,
                      &win));
    ok(MPI_Win_fence(0, win));
    ok(MPI_Put(out, PAIRS, MPI_DOUBLE_INT, next, 0, PAIRS, MPI_DOUBLE_INT, win));
    ok(MPI_Win_fence(0, win));
    for (int i = 0; i < PAIRS; i++) {
        check(memory[i].value == before * 10000.0 + i && memory[i].index == i);
        check(memory[i].padding[0] == 0x77 && memory[i].padding[3] == 0x77);
    }
    ok(MPI_Get(in, PAIRS - 10, MPI_DOUBLE_INT, next, 10, PAIRS - 10, MPI_DOUBLE_INT, win));
    ok(MPI_Win_fence(0, win));
    for (int i = 0; i < PAIRS - 10; i++) {
        check(in[i].value == rank * 10000.0 + i + 10 && in[i].index == i + 10);
        check(in[i].padding[0] == 0x33);
    }
    /* The maximum of all processes' values, and its rank. */
    for (int i = 0; i < PAIRS; i++) {
        memory[i].value = -1;
        memory[i].index = -1;
        out[i].value = (i + rank) % size;
        out[i].index = rank;
    }
    ok(MPI_Win_fence(0, win));
    ok(MPI_Accumulate(out, PAIRS, MPI_DOUBLE_INT, 0, 0, PAIRS, MPI_DOUBLE_INT, MPI_MAXLOC, win));
    ok(MPI_Win_fence(0, win));
    for (int i = 0; rank == 0 && i < PAIRS; i++) {
        check(memory[i].value == size - 1);
        check_equal((memory[i].index + i) % size, size - 1);
        check(memory[i].padding[0] == 0x77);
    }
    ok(MPI_Win_free(&win));
    free(memory);
    free(out);
    free(in);
    return finish();
}
