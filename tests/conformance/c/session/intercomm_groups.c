/* MPI_Intercomm_create_from_groups in a session, without the world model: two groups, tags, the error handler, and
 * wrong arguments. */
#include "session.h"

/* The even or the odd ranks, in falling order. */
static MPI_Group half(MPI_Group all, int odd, int *count)
{
    MPI_Group part;
    int members[1024];
    *count = 0;
    for (int i = size - 1; i >= 0; i--)
        if (i % 2 == odd)
            members[(*count)++] = i;
    ok(MPI_Group_incl(all, *count, members, &part));
    return part;
}

int main(void)
{
    MPI_Session session = open_session(NULL);
    MPI_Comm comm = everybody(session, "all"), inter[3], made = MPI_COMM_WORLD, both;
    MPI_Group all = group_of(session, "mpi://WORLD"), mine, theirs, found;
    MPI_Info info;
    MPI_Errhandler handler;
    int local, remote, odd = rank % 2, result, value = -1, flag;
    mine = half(all, odd, &local);
    theirs = half(all, !odd, &remote);

    /* An empty group: no communicator. */
    ok(MPI_Intercomm_create_from_groups(mine, 0, MPI_GROUP_EMPTY, 0, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
    check(made == MPI_COMM_NULL);
    made = MPI_COMM_WORLD;
    ok(MPI_Intercomm_create_from_groups(MPI_GROUP_EMPTY, 0, theirs, 0, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                        &made));
    check(made == MPI_COMM_NULL);

    /* Wrong ones: groups with common processes, this process outside its local group, no rank of a group. */
    check_class(MPI_Intercomm_create_from_groups(all, 0, all, 0, "same", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made),
                MPI_ERR_GROUP);
    check_class(MPI_Intercomm_create_from_groups(theirs, 0, mine, 0, "outside", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                                 &made),
                size > 1 ? MPI_ERR_GROUP : MPI_SUCCESS);
    check_class(MPI_Intercomm_create_from_groups(mine, local, theirs, 0, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made),
                MPI_ERR_RANK);
    check_class(MPI_Intercomm_create_from_groups(mine, 0, theirs, remote, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made),
                size > 1 ? MPI_ERR_RANK : MPI_SUCCESS);

    if (size > 1) {
        ok(MPI_Info_create(&info));
        ok(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
        /* The last ones lead; the others have no remote group. Two with one tag, one with another. */
        MPI_Group known = rank == odd ? theirs : MPI_GROUP_NULL;
        for (int i = 0; i < 3; i++)
            ok(MPI_Intercomm_create_from_groups(mine, local - 1, known, remote - 1, i == 2 ? "other" : "tag",
                                                i == 2 ? info : MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter[i]));
        for (int i = 0; i < 3; i++) {
            ok(MPI_Comm_test_inter(inter[i], &flag));
            check(flag);
            ok(MPI_Comm_remote_size(inter[i], &value));
            check_equal(value, remote);
            ok(MPI_Comm_rank(inter[i], &value));
            check_equal(value, local - 1 - rank / 2);
            ok(MPI_Comm_remote_group(inter[i], &found));
            ok(MPI_Group_compare(found, theirs, &result));
            check_equal(result, MPI_IDENT);
            ok(MPI_Group_free(&found));
            ok(MPI_Comm_get_errhandler(inter[i], &handler));
            check(handler == MPI_ERRORS_RETURN);
            ok(MPI_Errhandler_free(&handler));
        }
        char text[MPI_MAX_INFO_VAL + 1];
        MPI_Info used;
        ok(MPI_Comm_get_info(inter[2], &used));
        ok(MPI_Info_get(used, "mpi_assert_no_any_tag", MPI_MAX_INFO_VAL, text, &flag));
        check(flag && strcmp(text, "true") == 0);
        ok(MPI_Info_free(&used));
        ok(MPI_Info_free(&info));
        /* The ranks whose partner exists exchange numbers, on the last one first. */
        int own = local - 1 - rank / 2;
        for (int i = 2; i >= 0 && own < remote; i--) {
            int sent = rank * 10 + i, partner = 2 * (remote - 1 - own) + !odd;
            ok(MPI_Sendrecv(&sent, 1, MPI_INT, own, 1, &value, 1, MPI_INT, own, 1, inter[i], MPI_STATUS_IGNORE));
            check_equal(value, partner * 10 + i);
        }
        ok(MPI_Intercomm_merge(inter[1], odd, &both));
        ring(both, 3);
        ok(MPI_Comm_free(&both));
        for (int i = 0; i < 3; i++)
            ok(MPI_Comm_free(&inter[i]));
    }
    ok(MPI_Group_free(&mine));
    ok(MPI_Group_free(&theirs));
    ok(MPI_Group_free(&all));
    result = judge(comm);
    ok(MPI_Comm_free(&comm));
    ok(MPI_Session_finalize(&session));
    return result;
}
