/* coll_operations counts the collective operations of its communicator alone, in each form. */
#include "tool.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    tool_begin();
    MPI_Comm other;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_T_pvar_session session;
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_handle handles[2] = {watch(session, "coll_operations", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_WORLD),
                                    watch(session, "coll_operations", MPI_T_PVAR_CLASS_COUNTER, other)};
    unsigned long long before[2] = {read_pvar(session, handles[0]), read_pvar(session, handles[1])};
    int in = 1, out = 0, data[64] = {0};
    MPI_Request request;
    for (int i = 0; i < 5; i++)
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Scan(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(&in, &out, 1, MPI_INT, MPI_SUM, size - 1, MPI_COMM_WORLD);
    MPI_Ibcast(data, 64, MPI_INT, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    check_equal(read_pvar(session, handles[0]) - before[0], 5 + 1 + 1 + 1 + 3);
    MPI_Barrier(other);
    MPI_Barrier(other);
    check_equal(read_pvar(session, handles[1]) - before[1], 2);
    check_equal(read_pvar(session, handles[0]) - before[0], 5 + 1 + 1 + 1 + 3);
    MPI_T_pvar_session_free(&session);
    MPI_Comm_free(&other);
    return finish();
}
