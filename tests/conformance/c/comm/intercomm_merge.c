/* MPI_Intercomm_merge: the group that passes false comes first, the order within the groups stays, and equal values
 * give all processes the same order. */
#include "inter.h"

int main(int argc, char **argv)
{
    MPI_Comm inter, both;
    begin(&argc, &argv);
    inter = two_sides(11);
    int side = side_of(rank), flag = -1, counts[2] = {count_of(0), count_of(1)};
    for (int high = 0; high < 4; high++) {
        int passed[2] = {high & 1, high >> 1 & 1}, mine = -1, all = -1, first;
        ok(MPI_Intercomm_merge(inter, passed[side] ? 4711 : 0, &both));
        ok(MPI_Comm_test_inter(both, &flag));
        check_equal(flag, 0);
        ok(MPI_Comm_rank(both, &mine));
        ok(MPI_Comm_size(both, &all));
        check_equal(all, size);
        int *order = malloc(sizeof *order * size);
        ok(MPI_Allgather(&rank, 1, MPI_INT, order, 1, MPI_INT, both));
        check_equal(order[mine], rank);
        first = side_of(order[0]);
        if (passed[0] != passed[1])
            check_equal(first, passed[0]);
        for (int i = 0; i < size; i++) {
            int from = i < counts[first] ? first : !first;
            check_equal(order[i], world_rank_of(from, from == first ? i : i - counts[first]));
        }
        /* Equal values: the side whose first process has the lower rank in the job. */
        if (passed[0] == passed[1])
            check_equal(first, side_of(0));
        free(order);
        ok(MPI_Comm_free(&both));
    }
    /* An intracommunicator that outlives the intercommunicator. */
    ok(MPI_Intercomm_merge(inter, side, &both));
    ok(MPI_Comm_free(&inter));
    int sum = 0;
    ok(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, both));
    check_equal(sum, size * (size - 1) / 2);
    ok(MPI_Comm_free(&both));
    return finish();
}
