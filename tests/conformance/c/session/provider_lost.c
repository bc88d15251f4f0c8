/* Communicators of groups when a process of the group has aborted itself: no process waits for ever, whoever was to
 * choose the context id, and the processes that are left make communicators among themselves. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Comm made, part;
    MPI_Group all, left;
    char tag[20];
    int total = 0, own;
    begin(&argc, &argv);
    const int dead = argc > 1 ? 0 : size - 1;
    ok(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    ok(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    ok(MPI_Comm_group(MPI_COMM_WORLD, &all));
    ok(MPI_Group_excl(all, 1, &dead, &left));
    ok(MPI_Comm_split(MPI_COMM_WORLD, rank == dead ? MPI_UNDEFINED : 0, rank, &part));
    ok(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == dead)
        MPI_Abort(MPI_COMM_SELF, 3);
    /* The process that chooses the id depends on the tag and on the number of the call. */
    for (int i = 0; i < 40; i++) {
        int sum = 0, one = 1;
        snprintf(tag, sizeof tag, "tag %d", i % 7);
        int class = class_of(MPI_Comm_create_from_group(all, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
        check(class == MPI_SUCCESS || class == MPI_ERR_PROC_ABORTED);
        if (class == MPI_SUCCESS) {
            check_class(MPI_Barrier(made), MPI_ERR_PROC_ABORTED);
            ok(MPI_Comm_free(&made));
        }
        check_class(MPI_Comm_create_group(MPI_COMM_WORLD, all, i, &made), MPI_ERR_PROC_ABORTED);
        ok(MPI_Comm_create_from_group(left, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
        ok(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made));
        check_equal(sum, size - 1);
        ok(MPI_Comm_free(&made));
        ok(MPI_Comm_create_group(MPI_COMM_WORLD, left, i, &made));
        ok(MPI_Comm_free(&made));
    }
    ok(MPI_Group_free(&all));
    ok(MPI_Group_free(&left));
    ok(MPI_Comm_rank(part, &own));
    ok(MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, part));
    if (own == 0 && total == 0)
        printf("Those that are left found no errors\n");
    fflush(stdout);
    MPI_Finalize();
    return total != 0;
}
