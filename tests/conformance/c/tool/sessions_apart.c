/* Starting, stopping, resetting and writing a variable in one session or by one handle affects no other; a stopped
 * handle keeps its value; handles of another session are refused. */
#include "tool.h"

static void message(void)
{
    int value = 1;
    MPI_Request request;
    MPI_Isend(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    static const char name[] = "p2p_messages_sent";
    MPI_T_pvar_session one, two;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&one));
    ok(MPI_T_pvar_session_create(&two));
    MPI_T_pvar_handle a = watch(one, name, MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_SELF);
    MPI_T_pvar_handle b = watch(two, name, MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_SELF);
    MPI_T_pvar_handle c = watch(one, name, MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_SELF);
    check_equal(read_pvar(one, a), 0);
    message();
    message();
    check_equal(read_pvar(one, a), 2);
    check_equal(read_pvar(two, b), 2);
    ok(MPI_T_pvar_stop(one, a));
    message();
    check_equal(read_pvar(one, a), 2);
    check_equal(read_pvar(two, b), 3);
    check_equal(read_pvar(one, c), 3);
    ok(MPI_T_pvar_start(one, a));
    message();
    check_equal(read_pvar(one, a), 3);
    check_equal(read_pvar(two, b), 4);
    /* Starting a started handle and stopping a stopped one change nothing. */
    ok(MPI_T_pvar_start(one, a));
    check_equal(read_pvar(one, a), 3);
    ok(MPI_T_pvar_stop(one, a));
    ok(MPI_T_pvar_stop(one, a));
    check_equal(read_pvar(one, a), 3);
    ok(MPI_T_pvar_start(one, a));
    check_equal(read_pvar(one, a), 3);
    ok(MPI_T_pvar_reset(one, a));
    check_equal(read_pvar(one, a), 0);
    check_equal(read_pvar(one, c), 4);
    unsigned long long start = 100, value = 0;
    ok(MPI_T_pvar_write(two, b, &start));
    message();
    check_equal(read_pvar(two, b), 101);
    check_equal(read_pvar(one, a), 1);
    if (pvar_info(find_pvar(name, MPI_T_PVAR_CLASS_COUNTER)).atomic) {
        ok(MPI_T_pvar_readreset(two, b, &value));
        check_equal(value, 101);
        check_equal(read_pvar(two, b), 0);
    }
    check_equal(MPI_T_pvar_read(two, a, &value), MPI_T_ERR_INVALID_HANDLE);
    check_equal(MPI_T_pvar_start(two, a), MPI_T_ERR_INVALID_HANDLE);
    check_equal(MPI_T_pvar_stop(two, a), MPI_T_ERR_INVALID_HANDLE);
    check_equal(MPI_T_pvar_reset(two, a), MPI_T_ERR_INVALID_HANDLE);
    check_equal(MPI_T_pvar_write(two, a, &start), MPI_T_ERR_INVALID_HANDLE);
    check_equal(MPI_T_pvar_readreset(two, a, &start), MPI_T_ERR_INVALID_HANDLE);
    check(start == 100 && read_pvar(one, a) == 1);
    check_equal(MPI_T_pvar_handle_free(two, &a), MPI_T_ERR_INVALID_HANDLE);
    /* All handles of a session at once, and of that session only. */
    ok(MPI_T_pvar_stop(one, MPI_T_PVAR_ALL_HANDLES));
    message();
    check_equal(read_pvar(one, a), 1);
    check_equal(read_pvar(one, c), 5);
    check_equal(read_pvar(two, b), 1);
    ok(MPI_T_pvar_reset(one, MPI_T_PVAR_ALL_HANDLES));
    check_equal(read_pvar(one, c), 0);
    check_equal(read_pvar(two, b), 1);
    ok(MPI_T_pvar_start(one, MPI_T_PVAR_ALL_HANDLES));
    message();
    check_equal(read_pvar(one, a), 1);
    check(MPI_T_pvar_read(one, MPI_T_PVAR_ALL_HANDLES, &value) == MPI_T_ERR_INVALID_HANDLE);
    ok(MPI_T_pvar_session_free(&one));
    message();
    check_equal(read_pvar(two, b), 3);
    check_equal(MPI_T_pvar_read(one, c, &value), MPI_T_ERR_INVALID_SESSION);
    ok(MPI_T_pvar_session_free(&two));
    MPI_T_finalize();
    return finish();
}
