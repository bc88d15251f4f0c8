/* MPI_Win_start, MPI_Win_wait and MPI_Win_test end with MPI_ERR_PROC_ABORTED when a process of their group has ended;
 * the epochs of the others with each other go on. */
#include "check.h"

static int rank, size;

int main(int argc, char **argv)
{
    MPI_Comm left;
    MPI_Group world, dead, alive;
    MPI_Win win;
    int *base, flag = 0, result, total = 0, own;
    begin(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int last = size - 1, other = rank < 2 ? 1 - rank : rank;
    ok(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    ok(MPI_Comm_split(MPI_COMM_WORLD, rank == last ? MPI_UNDEFINED : 0, rank, &left));
    ok(MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    *base = -1;
    ok(MPI_Comm_group(MPI_COMM_WORLD, &world));
    ok(MPI_Group_incl(world, 1, &last, &dead));
    ok(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == last)
        MPI_Abort(MPI_COMM_SELF, 3);
    ok(MPI_Win_post(dead, 0, win));
    check_class(MPI_Win_wait(win), MPI_ERR_PROC_ABORTED);
    ok(MPI_Win_post(dead, 0, win));
    do
        result = MPI_Win_test(win, &flag);
    while (result == MPI_SUCCESS && !flag);
    check_equal(class_of(result), MPI_ERR_PROC_ABORTED);
    check_class(MPI_Win_start(dead, 0, win), MPI_ERR_PROC_ABORTED);
    /* The first two of those that are left. */
    ok(MPI_Group_incl(world, 1, &other, &alive));
    for (int round = 0; rank < 2 && round < 50; round++) {
        int value = rank * 100 + round;
        ok(MPI_Win_post(alive, 0, win));
        ok(MPI_Win_start(alive, 0, win));
        ok(MPI_Put(&value, 1, MPI_INT, other, 0, 1, MPI_INT, win));
        ok(MPI_Win_complete(win));
        ok(MPI_Win_wait(win));
        check_equal(*base, other * 100 + round);
    }
    ok(MPI_Group_free(&alive));
    ok(MPI_Group_free(&dead));
    ok(MPI_Group_free(&world));
    ok(MPI_Comm_rank(left, &own));
    ok(MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, left));
    if (own == 0 && total == 0)
        printf("Those that are left found no errors\n");
    fflush(stdout);
    ok(MPI_Finalize());
    return total != 0;
}
