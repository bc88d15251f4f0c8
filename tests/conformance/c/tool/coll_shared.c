/* The processes of a host make collectives through shared memory: the event of each call reports it, no message is
 * sent after the first call on a communicator, and results are right. coll_shared switches to messages and back. */
#include "events.h"

enum { SHARED = 7, OPERATIONS = 8, ELEMENTS = 3000 };
enum { BARRIER, BCAST, REDUCE, ALLREDUCE, GATHER, SCATTER, ALLGATHER, ALLTOALL };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle sent;
static MPI_Comm comm;
static int algorithm = -1;
static int in[8 * ELEMENTS], out[8 * ELEMENTS];

static void on_begin(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                     void *data)
{
    (void)registration, (void)safety, (void)data;
    algorithm = int_element(instance, 1);
}

static int value(int from, int to, int i)
{
    return from * 1000 + to * 10 + i;
}

/* Makes the call with so many elements for each process, and checks what it received. */
static void call(int which, int n)
{
    int last = size - 1, all = size * n, sum = size * (size - 1) / 2;
    for (int i = 0; i < all; i++)
        in[i] = value(rank, i / n, i % n), out[i] = -1;
    switch (which) {
    case BARRIER: ok(MPI_Barrier(comm)); break;
    case BCAST: ok(MPI_Bcast(in, n, MPI_INT, last, comm)); break;
    case REDUCE: ok(MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, last, comm)); break;
    case ALLREDUCE: ok(MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, comm)); break;
    case GATHER: ok(MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, last, comm)); break;
    case SCATTER: ok(MPI_Scatter(in, n, MPI_INT, out, n, MPI_INT, last, comm)); break;
    case ALLGATHER: ok(MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, comm)); break;
    case ALLTOALL: ok(MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, comm)); break;
    }
    for (int i = 0; i < n; i++) {
        if (which == BCAST)
            check_equal(in[i], value(last, 0, i));
        if (which == ALLREDUCE || (which == REDUCE && rank == last))
            check_equal(out[i], sum * 1000 + size * i);
        if (which == SCATTER)
            check_equal(out[i], value(last, rank, i));
        for (int from = 0; from < size; from++) {
            if (which == ALLGATHER || (which == GATHER && rank == last))
                check_equal(out[from * n + i], value(from, 0, i));
            if (which == ALLTOALL)
                check_equal(out[from * n + i], value(from, rank, i));
        }
    }
}

static void through_memory(int which, int n)
{
    unsigned long long before = read_pvar(session, sent);
    call(which, n);
    check_equal(algorithm, SHARED);
    check_equal(read_pvar(session, sent) - before, 0);
}

static void set_shared(MPI_T_cvar_handle shared, int value)
{
    ok(MPI_T_cvar_write(shared, &value));
}

int main(int argc, char **argv)
{
    MPI_T_cvar_handle shared = MPI_T_CVAR_HANDLE_NULL;
    int index = -1, count = 0;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    ok(MPI_T_cvar_get_index("coll_shared", &index));
    ok(MPI_T_cvar_handle_alloc(index, NULL, &shared, &count));
    ok(MPI_T_pvar_session_create(&session));
    sent = watch(session, "p2p_eager_sent", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    MPI_T_event_registration begun = add_callback("coll_begin", comm, MPI_T_CB_REQUIRE_MPI_RESTRICTED, on_begin, NULL);
    /* The first call sends the places of the shared memory. */
    call(BARRIER, 1);
    for (int which = BARRIER; which < OPERATIONS; which++) {
        through_memory(which, 1);
        through_memory(which, ELEMENTS);
        set_shared(shared, 0);
        call(which, 2);
        check(algorithm != SHARED);
        set_shared(shared, 1);
        through_memory(which, 100);
    }
    ok(MPI_T_event_handle_free(begun, NULL, NULL));
    ok(MPI_T_pvar_session_free(&session));
    ok(MPI_T_cvar_handle_free(&shared));
    ok(MPI_Comm_free(&comm));
    MPI_T_finalize();
    return finish();
}
