/* Set operations on groups: order, duplicates, ranges, translated ranks; the empty group. */
#include "check.h"

/* Whether a group has exactly these ranks of MPI_COMM_WORLD, in this order. */
static int is(MPI_Group group, int count, const int *expected)
{
    MPI_Group world;
    int number = -1, own[16], there[16];
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(group, &number);
    for (int i = 0; i < count; i++)
        own[i] = i;
    int same = number == count;
    if (same && count > 0)
        same = MPI_Group_translate_ranks(group, count, own, world, there) == MPI_SUCCESS &&
               memcmp(there, expected, sizeof(int) * (size_t)count) == 0;
    MPI_Group_free(&world);
    return same;
}

#define IS(group, ...) is(group, sizeof((int[]){__VA_ARGS__}) / sizeof(int), (int[]){__VA_ARGS__})

int main(int argc, char **argv)
{
    MPI_Group world, a, b, made;
    int found = -1, result = -1, ranks[] = {3, 1, 0}, ranges[2][3] = {{0, 3, 2}, {3, 1, -2}}, none[1][3] = {{0, 0, 1}};
    begin(&argc, &argv);
    check_equal(size, 4);
    ok(MPI_Comm_group(MPI_COMM_WORLD, &world));
    check(IS(world, 0, 1, 2, 3));
    ok(MPI_Group_rank(world, &found));
    check_equal(found, rank);

    ok(MPI_Group_incl(world, 3, ranks, &a));
    check(IS(a, 3, 1, 0));
    ok(MPI_Group_rank(a, &found));
    check_equal(found, rank == 2 ? MPI_UNDEFINED : rank == 3 ? 0 : rank == 1 ? 1 : 2);
    ok(MPI_Group_excl(world, 2, ranks, &b));
    check(IS(b, 0, 2));
    ok(MPI_Group_union(a, b, &made));
    check(IS(made, 3, 1, 0, 2));
    ok(MPI_Group_compare(made, world, &result));
    check_equal(result, MPI_SIMILAR);
    ok(MPI_Group_free(&made));
    check(made == MPI_GROUP_NULL);
    ok(MPI_Group_intersection(a, b, &made));
    check(IS(made, 0));
    ok(MPI_Group_free(&made));
    ok(MPI_Group_difference(a, b, &made));
    check(IS(made, 3, 1));
    ok(MPI_Group_compare(made, b, &result));
    check_equal(result, MPI_UNEQUAL);
    ok(MPI_Group_free(&made));
    ok(MPI_Group_difference(a, a, &made));
    check(made == MPI_GROUP_EMPTY);
    ok(MPI_Group_free(&made));

    int of_a[] = {0, 2, MPI_PROC_NULL}, of_b[3];
    ok(MPI_Group_translate_ranks(a, 3, of_a, b, of_b));
    check_equal(of_b[0], MPI_UNDEFINED);
    check_equal(of_b[1], 0);
    check_equal(of_b[2], MPI_PROC_NULL);
    ok(MPI_Group_translate_ranks(a, 0, NULL, b, NULL));

    ok(MPI_Group_range_incl(world, 2, ranges, &made));
    check(IS(made, 0, 2, 3, 1));
    ok(MPI_Group_free(&made));
    ok(MPI_Group_range_excl(world, 1, ranges, &made));
    check(IS(made, 1, 3));
    ok(MPI_Group_free(&made));
    ok(MPI_Group_range_excl(world, 0, none, &made));
    ok(MPI_Group_compare(made, world, &result));
    check_equal(result, MPI_IDENT);
    ok(MPI_Group_free(&made));

    ok(MPI_Group_incl(world, 0, NULL, &made));
    check(made == MPI_GROUP_EMPTY);
    ok(MPI_Group_size(MPI_GROUP_EMPTY, &found));
    check_equal(found, 0);
    ok(MPI_Group_rank(MPI_GROUP_EMPTY, &found));
    check_equal(found, MPI_UNDEFINED);
    ok(MPI_Group_compare(MPI_GROUP_EMPTY, made, &result));
    check_equal(result, MPI_IDENT);
    ok(MPI_Group_union(MPI_GROUP_EMPTY, b, &made));
    check(IS(made, 0, 2));
    ok(MPI_Group_free(&made));
    ok(MPI_Group_free(&a));
    ok(MPI_Group_free(&b));
    ok(MPI_Group_free(&world));
    return finish();
}
