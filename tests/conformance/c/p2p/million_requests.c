/* A million operations are under way at once and completed by MPI_Waitall. The memory for each is bounded and is not
 * kept, and the searches for matches grow with the number of messages alone. */
#include "../tool/tool.h"

enum { MANY = 1000000, BYTES_EACH = 600 };

int main(int argc, char **argv)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle requests, heap, most, steps;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    requests = watch(session, "p2p_requests", MPI_T_PVAR_CLASS_LEVEL, MPI_COMM_NULL);
    heap = watch(session, "memory_heap", MPI_T_PVAR_CLASS_LEVEL, MPI_COMM_NULL);
    most = watch(session, "memory_heap", MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_COMM_NULL);
    steps = watch(session, "p2p_search_steps", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_WORLD);
    MPI_Request *all = malloc(sizeof *all * MANY);
    int *in = malloc(sizeof *in * MANY), *out = malloc(sizeof *out * MANY);
    unsigned long long before = read_pvar(session, heap), kept = 0;
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (int round = 0; round < 2; round++) {
        unsigned long long searched = read_pvar(session, steps);
        for (int i = 0; i < MANY; i++) {
            in[i] = -1;
            out[i] = rank + i;
            ok(MPI_Irecv(&in[i], 1, MPI_INT, previous, i % 30000, MPI_COMM_WORLD, &all[i]));
        }
        check_equal(read_pvar(session, requests), MANY);
        ok(MPI_Barrier(MPI_COMM_WORLD));
        for (int i = 0; i < MANY; i++) {
            MPI_Request send;
            ok(MPI_Isend(&out[i], 1, MPI_INT, next, i % 30000, MPI_COMM_WORLD, &send));
            ok(MPI_Request_free(&send));
        }
        ok(MPI_Waitall(MANY, all, MPI_STATUSES_IGNORE));
        int right = 1;
        for (int i = 0; i < MANY; i++)
            right &= in[i] == previous + i && all[i] == MPI_REQUEST_NULL;
        check(right);
        ok(MPI_Barrier(MPI_COMM_WORLD));
        check_equal(read_pvar(session, requests), 0);
        check(read_pvar(session, steps) - searched < 8ull * MANY);
        /* The second round uses the memory of the first one. */
        if (round == 0)
            kept = read_pvar(session, most);
    }
    check(kept - before < (unsigned long long)MANY * BYTES_EACH);
    check(read_pvar(session, most) < kept + kept / 10);
    ok(MPI_T_pvar_session_free(&session));
    ok(MPI_T_finalize());
    free(all);
    free(in);
    free(out);
    return finish();
}
