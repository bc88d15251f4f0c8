/* Inquiries on an intercommunicator: rank and size of the local group, the remote group, names, attributes, hints,
 * error handler, comparison. */
#include "inter.h"

static int handled;

static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handled++;
}

/* The group has the ranks of a side, in order. */
static void check_group(MPI_Group group, int side)
{
    int count, result;
    MPI_Group world, expected;
    int *ranks = malloc(sizeof *ranks * size);
    for (int i = 0; i < count_of(side); i++)
        ranks[i] = world_rank_of(side, i);
    ok(MPI_Comm_group(MPI_COMM_WORLD, &world));
    ok(MPI_Group_incl(world, count_of(side), ranks, &expected));
    ok(MPI_Group_size(group, &count));
    check_equal(count, count_of(side));
    ok(MPI_Group_compare(group, expected, &result));
    check_equal(result, MPI_IDENT);
    ok(MPI_Group_free(&expected));
    ok(MPI_Group_free(&world));
    free(ranks);
}

int main(int argc, char **argv)
{
    MPI_Comm inter, other, own;
    MPI_Group group;
    MPI_Errhandler handler, found;
    MPI_Info info;
    int side, value = -1, flag = -1, result = -1, keyval, length;
    void *attribute;
    char text[MPI_MAX_INFO_VAL + 1], name[MPI_MAX_OBJECT_NAME];
    begin(&argc, &argv);
    side = side_of(rank);
    inter = two_sides(3);

    ok(MPI_Comm_test_inter(inter, &flag));
    check_equal(flag, 1);
    ok(MPI_Comm_test_inter(MPI_COMM_WORLD, &flag));
    check_equal(flag, 0);
    ok(MPI_Comm_size(inter, &value));
    check_equal(value, count_of(side));
    ok(MPI_Comm_remote_size(inter, &value));
    check_equal(value, count_of(!side));
    ok(MPI_Comm_rank(inter, &value));
    check_equal(world_rank_of(side, value), rank);
    ok(MPI_Comm_group(inter, &group));
    check_group(group, side);
    ok(MPI_Group_free(&group));
    ok(MPI_Comm_remote_group(inter, &group));
    check_group(group, !side);
    ok(MPI_Group_free(&group));

    ok(MPI_Comm_get_name(inter, name, &length));
    check_equal(length, 0);
    ok(MPI_Comm_set_name(inter, "both"));
    ok(MPI_Comm_get_name(inter, name, &length));
    check(strcmp(name, "both") == 0);
    ok(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    ok(MPI_Comm_set_attr(inter, keyval, &side));
    ok(MPI_Comm_get_attr(inter, keyval, &attribute, &flag));
    check(flag && attribute == &side);
    ok(MPI_Comm_get_attr(inter, MPI_TAG_UB, &attribute, &flag));
    check(flag && *(int *)attribute >= 32767);
    ok(MPI_Info_create(&info));
    ok(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    ok(MPI_Comm_set_info(inter, info));
    ok(MPI_Info_free(&info));
    ok(MPI_Comm_get_info(inter, &info));
    ok(MPI_Info_get(info, "mpi_assert_no_any_tag", MPI_MAX_INFO_VAL, text, &flag));
    check(flag && strcmp(text, "true") == 0);
    ok(MPI_Info_free(&info));

    /* Comparison: both groups count, and an intracommunicator is never equal. */
    ok(MPI_Comm_compare(inter, inter, &result));
    check_equal(result, MPI_IDENT);
    other = two_sides(3);
    ok(MPI_Comm_compare(inter, other, &result));
    check_equal(result, MPI_CONGRUENT);
    ok(MPI_Comm_free(&other));
    ok(MPI_Comm_split(inter, 0, -rank, &other));
    ok(MPI_Comm_compare(inter, other, &result));
    check_equal(result, size > 2 ? MPI_SIMILAR : MPI_CONGRUENT);
    ok(MPI_Comm_free(&other));
    own = own_side();
    ok(MPI_Comm_compare(inter, own, &result));
    check_equal(result, MPI_UNEQUAL);
    ok(MPI_Comm_compare(own, inter, &result));
    check_equal(result, MPI_UNEQUAL);

    /* The error handler is that of the local communicator; the intercommunicator's own one takes its errors. */
    ok(MPI_Comm_create_errhandler(on_error, &handler));
    ok(MPI_Comm_set_errhandler(own, handler));
    ok(MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, world_rank_of(!side, 0), 9, &other));
    ok(MPI_Comm_get_errhandler(other, &found));
    check(found == handler);
    ok(MPI_Errhandler_free(&found));
    check_class(MPI_Send(&side, 1, MPI_INT, count_of(!side), 0, other), MPI_ERR_RANK);
    check_equal(handled, 1);
    ok(MPI_Send(&side, 1, MPI_INT, MPI_PROC_NULL, 0, other));
    ok(MPI_Errhandler_free(&handler));
    ok(MPI_Comm_free(&own));
    ok(MPI_Comm_free(&inter));
    ok(MPI_Comm_free(&other));
    ok(MPI_Comm_free_keyval(&keyval));
    return finish();
}
