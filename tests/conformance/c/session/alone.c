/* A program with sessions only: its process sets and their info, a communicator of each, and the predefined
 * communicators, which do not exist. Repeated after the last session has ended. */
#include "session.h"

static void look(MPI_Session session)
{
    int count = -1, length = 0, found_world = 0, found_self = 0, flag = -1;
    char name[MPI_MAX_PSET_NAME_LEN], value[MPI_MAX_INFO_VAL];
    MPI_Info info;
    ok(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
    check(count >= 2);
    for (int i = 0; i < count; i++) {
        /* The length with the NUL, then the name, then the name cut. */
        length = 0;
        ok(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL));
        int needed = length;
        ok(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name));
        check_equal(length, needed);
        check_equal(strlen(name) + 1, needed);
        found_world |= strcmp(name, "mpi://WORLD") == 0;
        found_self |= strcmp(name, "mpi://SELF") == 0;
        char cut[5] = "....";
        length = 4;
        ok(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, cut));
        check_equal(length, needed);
        check(strncmp(cut, name, 3) == 0 && cut[3] == 0);
        /* Its size is that of its group. */
        MPI_Group group = group_of(session, name);
        int members = -1;
        ok(MPI_Group_size(group, &members));
        ok(MPI_Group_free(&group));
        ok(MPI_Session_get_pset_info(session, name, &info));
        ok(MPI_Info_get(info, "mpi_size", sizeof value - 1, value, &flag));
        check(flag);
        check_equal(atoi(value), members);
        ok(MPI_Info_free(&info));
    }
    check(found_world && found_self);
    /* Names are URIs, whose case does not matter. */
    MPI_Group upper = group_of(session, "mpi://WORLD"), lower = group_of(session, "MPI://world");
    ok(MPI_Group_compare(upper, lower, &flag));
    check_equal(flag, MPI_IDENT);
    ok(MPI_Group_free(&upper));
    ok(MPI_Group_free(&lower));
    ok(MPI_Session_get_pset_info(session, "mpi://self", &info));
    ok(MPI_Info_free(&info));
}

static int round_of(int number)
{
    int flag = -1, found = -1;
    MPI_Session session = open_session(NULL);
    ok(MPI_Initialized(&flag));
    check(!flag);
    look(session);
    MPI_Comm all = everybody(session, "round"), own, copy;
    ring(all, number);
    MPI_Group self = group_of(session, "mpi://SELF"), group;
    ok(MPI_Comm_create_from_group(self, "round", MPI_INFO_NULL, MPI_ERRORS_RETURN, &own));
    ring(own, number);
    ok(MPI_Comm_group(own, &group));
    ok(MPI_Group_compare(group, self, &found));
    check_equal(found, MPI_IDENT);
    ok(MPI_Group_free(&group));
    ok(MPI_Group_free(&self));
    ok(MPI_Comm_dup(all, &copy));
    ring(copy, number + 1);
    ok(MPI_Comm_free(&copy));
    ok(MPI_Comm_free(&own));

    /* There is no world model; an error without an object does not go to the session's handler. */
    MPI_Comm none = MPI_COMM_NULL;
    ok(MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN));
    check_class(MPI_Comm_compare(all, MPI_COMM_WORLD, &found), MPI_ERR_COMM);
    check(none == MPI_COMM_NULL);
    int result = number == 0 ? 0 : judge(all);
    if (number == 0)
        check_equal(wrong, 0);
    ok(MPI_Comm_free(&all));
    ok(MPI_Session_finalize(&session));
    check(session == MPI_SESSION_NULL);
    return result;
}

int main(void)
{
    round_of(0);
    return round_of(1);
}
