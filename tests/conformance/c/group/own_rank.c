/* The own rank in a group, and the processes that two groups share, in the order of the first. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Group world, first, last, both, none;
    int place = -5, number = -5;
    begin(&argc, &argv);
    ok(MPI_Comm_group(MPI_COMM_WORLD, &world));
    ok(MPI_Group_rank(world, &place));
    check_equal(place, rank);
    ok(MPI_Group_rank(MPI_GROUP_EMPTY, &place));
    check_equal(place, MPI_UNDEFINED);

    /* Ranks 2, 1, 0 and ranks 1, 2, 3. */
    int descending[3] = {2, 1, 0}, ascending[3] = {1, 2, 3};
    ok(MPI_Group_incl(world, 3, descending, &first));
    ok(MPI_Group_rank(first, &place));
    check_equal(place, rank < 3 ? 2 - rank : MPI_UNDEFINED);
    ok(MPI_Group_incl(world, 3, ascending, &last));
    ok(MPI_Group_intersection(first, last, &both));
    ok(MPI_Group_size(both, &number));
    check_equal(number, 2);
    ok(MPI_Group_rank(both, &place));
    check_equal(place, rank == 2 ? 0 : rank == 1 ? 1 : MPI_UNDEFINED);
    ok(MPI_Group_intersection(last, MPI_GROUP_EMPTY, &none));
    check(none == MPI_GROUP_EMPTY);

    MPI_Group all[] = {world, first, last, both};
    for (int i = 0; i < 4; i++)
        ok(MPI_Group_free(&all[i]));
    return finish();
}
