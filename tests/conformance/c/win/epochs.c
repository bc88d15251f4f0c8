/* The operations of one epoch are complete before the next begins, in every process; a fence may be called any
 * number of times. */
#include "check.h"

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 300;
    begin(&argc, &argv);
    long memory[2] = {0, 0}, one = 1;
    MPI_Win win;
    ok(MPI_Win_create(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    ok(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    for (int i = 0; i < rounds; i++) {
        /* All processes add one at one target, then one process overwrites the sum with a put. */
        int target = i % size;
        long fresh = i * 1000L;
        ok(MPI_Accumulate(&one, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM, win));
        ok(MPI_Win_fence(0, win));
        if (rank == target)
            check_equal(memory[0], memory[1] + size);
        ok(MPI_Win_fence(MPI_MODE_NOSTORE, win));
        if (rank == (i + 1) % size) {
            ok(MPI_Put(&fresh, 1, MPI_LONG, target, 0, 1, MPI_LONG, win));
            ok(MPI_Put(&fresh, 1, MPI_LONG, target, 1, 1, MPI_LONG, win));
        }
        ok(MPI_Win_fence(0, win));
        if (rank == target)
            check_equal(memory[0], fresh);
    }
    ok(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    ok(MPI_Win_free(&win));
    return finish();
}
