/* Sessions before, beside and after the world model, several at once: each works until it is finalised, and so do its
 * communicators. The argument selects the order. */
#include "session.h"

static void before(void)
{
    MPI_Session first = open_session(NULL), second = open_session("MPI_THREAD_SINGLE");
    MPI_Comm one = everybody(first, "one"), two = everybody(second, "two");
    ring(one, 1);
    ring(two, 2);
    ok(MPI_Comm_free(&one));
    ok(MPI_Session_finalize(&first));
    ring(two, 3);
    ok(MPI_Comm_free(&two));
    ok(MPI_Session_finalize(&second));
}

int main(int argc, char **argv)
{
    const char *order = argc > 1 ? argv[1] : "all";
    int all = strcmp(order, "all") == 0, flag = -1, result = 0;
    MPI_Session over = MPI_SESSION_NULL, beside = MPI_SESSION_NULL;
    MPI_Comm over_comm = MPI_COMM_NULL, beside_comm;
    if (all || strcmp(order, "before") == 0)
        before();
    if (all || strcmp(order, "across") == 0) {
        over = open_session(NULL);
        over_comm = everybody(over, "across");
        ring(over_comm, 7);
    }
    begin(&argc, &argv);
    return_errors();
    ring(MPI_COMM_WORLD, 10);
    if (all || strcmp(order, "beside") == 0) {
        beside = open_session("MPI_THREAD_MULTIPLE");
        beside_comm = everybody(beside, "beside");
        ring(beside_comm, 11);
        ring(MPI_COMM_WORLD, 12);
        ok(MPI_Comm_free(&beside_comm));
        ok(MPI_Session_finalize(&beside));
        ring(MPI_COMM_WORLD, 13);
    }
    if (over_comm != MPI_COMM_NULL)
        ring(over_comm, 14);
    if (all || strcmp(order, "after") == 0) {
        int total = 0;
        ok(MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
        check_equal(total, 0);
        ok(MPI_Finalize());
        ok(MPI_Finalized(&flag));
        check(flag);
        MPI_Session session = open_session(NULL);
        MPI_Comm comm = everybody(session, "after");
        ring(comm, 20);
        if (over_comm != MPI_COMM_NULL) {
            ring(over_comm, 21);
            ok(MPI_Comm_free(&over_comm));
            ok(MPI_Session_finalize(&over));
        }
        ring(comm, 22);
        /* The world model cannot start again. */
        int found = -1;
        check_class(MPI_Comm_compare(comm, MPI_COMM_WORLD, &found), MPI_ERR_COMM);
        result = judge(comm);
        ok(MPI_Comm_free(&comm));
        ok(MPI_Session_finalize(&session));
        return result;
    }
    if (over_comm != MPI_COMM_NULL) {
        ok(MPI_Comm_free(&over_comm));
        ok(MPI_Session_finalize(&over));
    }
    return finish();
}
