/* MPI_Intercomm_create_from_groups: arguments that are significant at the leader alone, and wrong arguments of some of
 * the processes, which are errors in all processes of both groups. */
#include "session.h"

static MPI_Group mine, theirs;
static int local, remote, own;

/* A call with the string tag that all calls have. */
static int make(int local_leader, MPI_Group other, int remote_leader, MPI_Comm *made)
{
    return MPI_Intercomm_create_from_groups(mine, local_leader, other, remote_leader, "errors", MPI_INFO_NULL,
                                            MPI_ERRORS_RETURN, made);
}

/* The next call succeeds, with the same tag. */
static void works(void)
{
    MPI_Comm made = MPI_COMM_NULL;
    int sent = rank, got = -1, peers;
    ok(make(0, own == 0 ? theirs : MPI_GROUP_EMPTY, 0, &made));
    ok(MPI_Comm_remote_size(made, &peers));
    check_equal(peers, remote);
    if (own < remote)
        ok(MPI_Sendrecv(&sent, 1, MPI_INT, own, 3, &got, 1, MPI_INT, own, 3, made, MPI_STATUS_IGNORE));
    ok(MPI_Comm_free(&made));
}

int main(void)
{
    MPI_Session session = open_session(NULL);
    MPI_Comm comm = everybody(session, "all"), made;
    MPI_Group all = group_of(session, "mpi://WORLD");
    int cut = size / 2, low = rank < cut;
    int range[2][3] = {{0, cut - 1, 1}, {cut, size - 1, 1}};
    check(size >= 2);
    ok(MPI_Group_range_incl(all, 1, &range[low ? 0 : 1], &mine));
    ok(MPI_Group_range_incl(all, 1, &range[low ? 1 : 0], &theirs));
    local = low ? cut : size - cut;
    remote = size - local;
    own = low ? rank : rank - cut;
    works();

    /* The leader's remote group is empty, the others' is not: no communicator in any process. */
    made = MPI_COMM_WORLD;
    ok(make(local - 1, own == local - 1 ? MPI_GROUP_EMPTY : theirs, 0, &made));
    check(made == MPI_COMM_NULL);
    works();

    /* One leader names no rank of the remote group. */
    check_class(make(0, theirs, low ? remote : 0, &made), MPI_ERR_RANK);
    works();
    /* A rank, but not that of the remote leader. */
    if (size - cut > 1) {
        check_class(make(0, theirs, low ? remote - 1 : 0, &made), MPI_ERR_RANK);
        works();
    }
    /* One process that is not the leader has no place for the handle, another one names another leader. */
    check_class(MPI_Intercomm_create_from_groups(mine, 0, theirs, 0, "errors", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                                 !low && own == local - 1 ? NULL : &made),
                MPI_ERR_ARG);
    works();
    check_class(make(!low && own == local - 1 ? local : 0, theirs, 0, &made), MPI_ERR_RANK);
    works();
    /* A leader with wrong hints. */
    MPI_Info hints = low && own == 0 ? (MPI_Info)MPI_COMM_WORLD : MPI_INFO_NULL;
    check_class(MPI_Intercomm_create_from_groups(mine, 0, theirs, 0, "errors", hints, MPI_ERRORS_RETURN, &made),
                MPI_ERR_INFO);
    works();
    /* Another remote group than the processes of the other group pass: one process less. */
    if (size > 3) {
        MPI_Group part;
        int last = remote - 1;
        ok(MPI_Group_excl(theirs, 1, &last, &part));
        check_class(make(0, low ? part : theirs, 0, &made), MPI_ERR_GROUP);
        ok(MPI_Group_free(&part));
        works();
    }
    /* A leader without a remote group: its own group gets the error, and the other one is not waited for. */
    check_class(make(0, own == 0 ? MPI_GROUP_NULL : theirs, 0, &made), MPI_ERR_GROUP);
    works();

    ok(MPI_Group_free(&mine));
    ok(MPI_Group_free(&theirs));
    ok(MPI_Group_free(&all));
    int result = judge(comm);
    ok(MPI_Comm_free(&comm));
    ok(MPI_Session_finalize(&session));
    return result;
}
