/* Epochs among groups: operations start after the target has called MPI_Win_post, and are complete there when
 * MPI_Win_wait or MPI_Win_test has ended its epoch; several epochs in a row, in which a process is both. */
#include "check.h"

enum { ROUNDS = 40 };

static int rank, size;

static MPI_Group neighbours(int first, int second)
{
    MPI_Group world, group;
    int ranks[2] = {first, second};
    ok(MPI_Comm_group(MPI_COMM_WORLD, &world));
    ok(MPI_Group_incl(world, first == second ? 1 : 2, ranks, &group));
    ok(MPI_Group_free(&world));
    return group;
}

int main(int argc, char **argv)
{
    MPI_Win win;
    int *memory, flag;
    begin(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    if (argc > 1) {
        ok(MPI_Alloc_mem(3 * sizeof *memory, MPI_INFO_NULL, &memory));
        ok(MPI_Win_create(memory, 3 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    } else {
        ok(MPI_Win_allocate(3 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    }
    MPI_Group group = neighbours(previous, next);
    memory[0] = memory[1] = memory[2] = 0;
    for (int round = 1; round <= ROUNDS; round++) {
        int mine[2] = {round, rank}, found = -1, one = 1;
        ok(MPI_Win_post(group, round % 3 == 0 ? MPI_MODE_NOSTORE : 0, win));
        ok(MPI_Win_start(group, 0, win));
        ok(MPI_Put(&mine[0], 1, MPI_INT, next, 0, 1, MPI_INT, win));
        ok(MPI_Accumulate(&one, 1, MPI_INT, previous, 1, 1, MPI_INT, MPI_SUM, win));
        ok(MPI_Get(&found, 1, MPI_INT, next, 2, 1, MPI_INT, win));
        ok(MPI_Win_complete(win));
        check_equal(found, round - 1);
        if (round % 2) {
            ok(MPI_Win_wait(win));
        } else {
            for (flag = 0; !flag;)
                ok(MPI_Win_test(win, &flag));
        }
        check_equal(memory[0], round);
        check_equal(memory[1], round);
        memory[2] = round;
    }
    /* The program knows that the target has called MPI_Win_post. */
    ok(MPI_Win_post(group, MPI_MODE_NOCHECK, win));
    ok(MPI_Barrier(MPI_COMM_WORLD));
    ok(MPI_Win_start(group, MPI_MODE_NOCHECK, win));
    ok(MPI_Put(&rank, 1, MPI_INT, next, 0, 1, MPI_INT, win));
    ok(MPI_Win_complete(win));
    ok(MPI_Win_wait(win));
    check_equal(memory[0], previous);
    /* An epoch without processes. */
    ok(MPI_Win_post(MPI_GROUP_EMPTY, 0, win));
    ok(MPI_Win_start(MPI_GROUP_EMPTY, 0, win));
    ok(MPI_Win_complete(win));
    ok(MPI_Win_test(win, &flag));
    check(flag);
    ok(MPI_Group_free(&group));
    ok(MPI_Win_free(&win));
    if (argc > 1)
        ok(MPI_Free_mem(memory));
    return finish();
}
