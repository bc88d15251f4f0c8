/* The counters of messages and bytes, sent and received, agree with the program's counts on each communicator, at
 * all sizes; messages of collective calls do not count as the program's. */
#include "tool.h"

int main(int argc, char **argv)
{
    static const int lengths[] = {0, 4, 60, 5000, 70000, 900000};
    static char out[900000], in[900000];
    static const struct { const char *name; int class; } variables[] = {
        {"p2p_messages_sent", MPI_T_PVAR_CLASS_COUNTER},
        {"p2p_messages_received", MPI_T_PVAR_CLASS_COUNTER},
        {"p2p_bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE},
        {"p2p_bytes_received", MPI_T_PVAR_CLASS_AGGREGATE}};
    MPI_Comm other;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle world[4], second[4];
    unsigned long long messages = 0, bytes = 0;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    ok(MPI_T_pvar_session_create(&session));
    for (int v = 0; v < 4; v++) {
        world[v] = watch(session, variables[v].name, variables[v].class, MPI_COMM_WORLD);
        second[v] = watch(session, variables[v].name, variables[v].class, other);
    }
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int round = 0; round < 60; round++) {
        int length = lengths[round % 6], sum = 0;
        MPI_Sendrecv(out, length, MPI_CHAR, to, 1, in, length, MPI_CHAR, from, 1, other, MPI_STATUS_IGNORE);
        messages++;
        bytes += (unsigned long long)length;
        MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, other);
        MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, other);
    }
    unsigned long long expected[] = {messages, messages, bytes, bytes};
    for (int v = 0; v < 4; v++) {
        check_equal(read_pvar(session, second[v]), expected[v]);
        check_equal(read_pvar(session, world[v]), 0);
    }
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    MPI_Comm_free(&other);
    return finish();
}
