/* MPI_T_UMQ_LENGTH is the number of unexpected messages of a communicator, after each arrival and each receive; its
 * high-water mark is the largest number. */
#include "tool.h"

enum { MESSAGES = 50 };

int main(int argc, char **argv)
{
    MPI_Comm other;
    MPI_T_pvar_session session;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    ok(MPI_T_pvar_session_create(&session));
    struct pvar_info info = pvar_info(find_pvar("MPI_T_UMQ_LENGTH", MPI_T_PVAR_CLASS_LEVEL));
    check(info.type == MPI_UNSIGNED);
    check_equal(info.bind, MPI_T_BIND_MPI_COMM);
    MPI_T_pvar_handle world = watch(session, "MPI_T_UMQ_LENGTH", MPI_T_PVAR_CLASS_LEVEL, MPI_COMM_WORLD);
    MPI_T_pvar_handle second = watch(session, "MPI_T_UMQ_LENGTH", MPI_T_PVAR_CLASS_LEVEL, other);
    MPI_T_pvar_handle most = watch(session, "MPI_T_UMQ_LENGTH", MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_COMM_WORLD);
    check_equal(read_pvar(session, world), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        for (int i = 0; i < MESSAGES; i++) {
            MPI_Send(&i, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
            if (i % 5 == 0)
                MPI_Send(&i, 1, MPI_INT, 1, i, other);
        }
        MPI_Send(NULL, 0, MPI_INT, 1, 999, MPI_COMM_WORLD);
    } else if (rank == 1) {
        int value;
        MPI_Recv(NULL, 0, MPI_INT, 0, 999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_equal(read_pvar(session, world), MESSAGES);
        check_equal(read_pvar(session, second), MESSAGES / 5);
        for (int i = MESSAGES - 1; i >= 0; i--) {
            MPI_Recv(&value, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            check_equal(read_pvar(session, world), i);
        }
        check_equal(read_pvar(session, second), MESSAGES / 5);
        check(read_pvar(session, most) >= MESSAGES && read_pvar(session, most) <= MESSAGES + 1);
        for (int i = 0; i < MESSAGES; i += 5)
            MPI_Recv(&value, 1, MPI_INT, 0, i, other, MPI_STATUS_IGNORE);
        check_equal(read_pvar(session, second), 0);
    }
    ok(MPI_T_pvar_handle_free(session, &world));
    ok(MPI_T_pvar_handle_free(session, &second));
    ok(MPI_T_pvar_handle_free(session, &most));
    ok(MPI_T_pvar_session_free(&session));
    check(session == MPI_T_PVAR_SESSION_NULL && world == MPI_T_PVAR_HANDLE_NULL);
    MPI_T_finalize();
    MPI_Comm_free(&other);
    return finish();
}
