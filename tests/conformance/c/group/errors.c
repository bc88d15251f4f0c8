/* An invalid group, rank or range is an error of its own class. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Group world, stale, null = MPI_GROUP_NULL, made = MPI_GROUP_NULL;
    int found = -1;
    begin(&argc, &argv);
    return_errors();
    ok(MPI_Comm_group(MPI_COMM_WORLD, &world));
    check_class(MPI_Group_size(MPI_GROUP_NULL, &found), MPI_ERR_GROUP);
    check_class(MPI_Group_free(&null), MPI_ERR_GROUP);
    check_class(MPI_Group_union(world, MPI_GROUP_NULL, &made), MPI_ERR_GROUP);
    check_class(MPI_Group_compare(MPI_GROUP_NULL, world, &found), MPI_ERR_GROUP);
    int outside[] = {size}, negative[] = {-1}, twice[] = {0, 0};
    check_class(MPI_Group_incl(world, 1, outside, &made), MPI_ERR_RANK);
    check_class(MPI_Group_excl(world, 1, negative, &made), MPI_ERR_RANK);
    check_class(MPI_Group_incl(world, 2, twice, &made), MPI_ERR_RANK);
    check_class(MPI_Group_excl(world, 2, twice, &made), MPI_ERR_RANK);
    check_class(MPI_Group_translate_ranks(world, 1, outside, world, &found), MPI_ERR_RANK);
    check(MPI_Group_incl(world, -1, outside, &made) != MPI_SUCCESS);
    check(MPI_Group_incl(world, 1, NULL, &made) != MPI_SUCCESS);
    int still[1][3] = {{0, 0, 0}}, away[1][3] = {{1, 0, 1}}, beyond[1][3] = {{0, size, 1}};
    int both[2][3] = {{0, 0, 1}, {0, 0, 1}};
    check_class(MPI_Group_range_incl(world, 1, still, &made), MPI_ERR_ARG);
    check_class(MPI_Group_range_incl(world, 1, away, &made), MPI_ERR_ARG);
    check_class(MPI_Group_range_incl(world, 1, beyond, &made), MPI_ERR_RANK);
    check_class(MPI_Group_range_excl(world, 2, both, &made), MPI_ERR_RANK);
    check(made == MPI_GROUP_NULL);
    stale = world;
    ok(MPI_Group_free(&world));
    check_class(MPI_Group_size(stale, &found), MPI_ERR_GROUP);
    check_class(MPI_Group_free(&stale), MPI_ERR_GROUP);
    check_class(MPI_Comm_group(MPI_COMM_NULL, &made), MPI_ERR_COMM);
    return finish();
}
