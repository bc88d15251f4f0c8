/* Communicators of an intercommunicator: duplicates of all kinds, parts by color and key, parts by groups. */
#include "inter.h"

static void check_shape(MPI_Comm comm, int local, int remote)
{
    int flag = 0, value = -1;
    check(comm != MPI_COMM_NULL);
    ok(MPI_Comm_test_inter(comm, &flag));
    check_equal(flag, 1);
    ok(MPI_Comm_size(comm, &value));
    check_equal(value, local);
    ok(MPI_Comm_remote_size(comm, &value));
    check_equal(value, remote);
}

int main(int argc, char **argv)
{
    enum { COPIES = 12 };
    MPI_Comm inter, made, copies[COPIES];
    MPI_Request requests[COPIES];
    MPI_Group group, part;
    MPI_Info info;
    int side, local, remote, mine, result, keyval, flag;
    void *attribute;
    begin(&argc, &argv);
    side = side_of(rank), local = count_of(side), remote = count_of(!side);
    inter = two_sides(1);
    ok(MPI_Comm_rank(inter, &mine));

    ok(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    ok(MPI_Comm_set_attr(inter, keyval, &side));
    ok(MPI_Comm_dup(inter, &made));
    check_shape(made, local, remote);
    ok(MPI_Comm_compare(inter, made, &result));
    check_equal(result, MPI_CONGRUENT);
    ok(MPI_Comm_get_attr(made, keyval, &attribute, &flag));
    check(flag && attribute == &side);
    all_to_all_remote(made, 2);
    ok(MPI_Comm_free(&made));
    ok(MPI_Info_create(&info));
    ok(MPI_Info_set(info, "mpi_assert_exact_length", "true"));
    ok(MPI_Comm_dup_with_info(inter, info, &made));
    ok(MPI_Info_free(&info));
    ok(MPI_Comm_get_info(made, &info));
    char text[MPI_MAX_INFO_VAL + 1];
    ok(MPI_Info_get(info, "mpi_assert_exact_length", MPI_MAX_INFO_VAL, text, &flag));
    check(flag && strcmp(text, "true") == 0);
    ok(MPI_Info_free(&info));
    all_to_all_remote(made, 3);
    ok(MPI_Comm_free(&made));

    /* Duplicates that do not wait, completed in another order. */
    for (int i = 0; i < COPIES; i++)
        ok(MPI_Comm_idup(inter, &copies[i], &requests[i]));
    for (int i = COPIES - 1; i >= 0; i--)
        ok(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    for (int i = 0; i < COPIES; i++) {
        check_shape(copies[i], local, remote);
        all_to_all_remote(copies[i], 4 + i);
    }
    /* A duplicate of a duplicate; freed in another order than made. */
    ok(MPI_Comm_dup(copies[3], &made));
    for (int i = 0; i < COPIES; i++)
        ok(MPI_Comm_free(&copies[i]));
    all_to_all_remote(made, 30);
    ok(MPI_Comm_free(&made));

    /* By color: the first of both sides, backwards; the last one alone on its side has no partner. */
    ok(MPI_Comm_split(inter, 0, -mine, &made));
    check_shape(made, local, remote);
    int again;
    ok(MPI_Comm_rank(made, &again));
    check_equal(again, local - 1 - mine);
    all_to_all_remote(made, 31);
    ok(MPI_Comm_free(&made));
    ok(MPI_Comm_split(inter, mine < 1 ? 7 : 8 + side, 0, &made));
    if (mine < 1) {
        check_shape(made, 1, 1);
        all_to_all_remote(made, 32);
        ok(MPI_Comm_free(&made));
    } else {
        check(made == MPI_COMM_NULL);
    }
    ok(MPI_Comm_split(inter, mine == 0 && side ? 1 : MPI_UNDEFINED, 0, &made));
    check(made == MPI_COMM_NULL);

    /* By kind: all share memory. A part of one process alone has no remote group. */
    ok(MPI_Comm_split_type(inter, MPI_COMM_TYPE_SHARED, -mine, MPI_INFO_NULL, &made));
    check_shape(made, local, remote);
    ok(MPI_Comm_rank(made, &again));
    check_equal(again, local - 1 - mine);
    all_to_all_remote(made, 33);
    ok(MPI_Comm_free(&made));
    ok(MPI_Comm_split_type(inter, MPI_UNDEFINED, 0, MPI_INFO_NULL, &made));
    check(made == MPI_COMM_NULL);
    ok(MPI_Info_create(&info));
    ok(MPI_Info_set(info, "mpi_pset_name", "mpi://SELF"));
    ok(MPI_Comm_split_type(inter, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &made));
    check(made == MPI_COMM_NULL);
    ok(MPI_Info_free(&info));

    /* By groups: the even ones of the own side, backwards. */
    ok(MPI_Comm_group(inter, &group));
    int ranks[1024], count = 0, there = (remote + 1) / 2;
    for (int i = local - 1; i >= 0; i--)
        if (i % 2 == 0)
            ranks[count++] = i;
    ok(MPI_Group_incl(group, count, ranks, &part));
    ok(MPI_Comm_create(inter, part, &made));
    if (mine % 2 == 0) {
        check_shape(made, count, there);
        ok(MPI_Comm_rank(made, &again));
        check_equal(ranks[again], mine);
        all_to_all_remote(made, 33);
        ok(MPI_Comm_free(&made));
    } else {
        check(made == MPI_COMM_NULL);
    }
    /* An empty group on one side: no communicator on either. */
    ok(MPI_Comm_create(inter, side ? MPI_GROUP_EMPTY : group, &made));
    check(made == MPI_COMM_NULL);
    /* A group with processes of the other side is an error in all processes. */
    MPI_Group wrong_group;
    ok(MPI_Comm_remote_group(inter, &wrong_group));
    ok(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    check_class(MPI_Comm_create(inter, side ? wrong_group : group, &made), MPI_ERR_GROUP);
    all_to_all_remote(inter, 34);
    ok(MPI_Group_free(&wrong_group));
    ok(MPI_Group_free(&part));
    ok(MPI_Group_free(&group));
    ok(MPI_Comm_free(&inter));
    ok(MPI_Comm_free_keyval(&keyval));
    return finish();
}
