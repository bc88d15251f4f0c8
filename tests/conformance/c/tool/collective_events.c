/* A collective call raises an event at its begin and one at its end, with its operation, algorithm and bytes. Its
 * timer runs while a handle exists, and the state of the process is "in a collective". */
#include "events.h"

enum { BARRIER = 0, BCAST = 1, ALLREDUCE = 3, ALONE = 0, SPLIT = 4 };

static int begun, ended, operation = -1, algorithm = -1, doing = -1;
static unsigned long long bytes, took;
static MPI_T_pvar_session session;
static MPI_T_pvar_handle state;

static void on_begin(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                     void *data)
{
    (void)registration, (void)safety, (void)data;
    begun++;
    operation = int_element(instance, 0);
    algorithm = int_element(instance, 1);
    bytes = long_element(instance, 2);
}

static void on_end(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                   void *data)
{
    (void)registration, (void)safety, (void)data;
    ended++;
    check_equal(int_element(instance, 0), operation);
    check_equal(int_element(instance, 1), algorithm);
    took = long_element(instance, 2);
}

static void on_op(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *length; i++)
        ((double *)inout)[i] += ((double *)in)[i];
    ok(MPI_T_pvar_read(session, state, &doing));
}

int main(int argc, char **argv)
{
    static double in[40000], out[40000];
    double seconds = -1, none = -1;
    MPI_Comm other;
    MPI_Op op;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    ok(MPI_T_pvar_session_create(&session));
    state = watch(session, "process_state", MPI_T_PVAR_CLASS_STATE, MPI_COMM_NULL);
    MPI_T_pvar_handle time = watch(session, "coll_barrier_time", MPI_T_PVAR_CLASS_TIMER, MPI_COMM_NULL);
    MPI_T_pvar_handle idle = watch(session, "coll_gather_time", MPI_T_PVAR_CLASS_TIMER, MPI_COMM_NULL);
    MPI_T_event_registration first = add_callback("coll_begin", other, MPI_T_CB_REQUIRE_MPI_RESTRICTED, on_begin, NULL);
    MPI_T_event_registration last = add_callback("coll_end", other, MPI_T_CB_REQUIRE_NONE, on_end, NULL);
    ok(MPI_Barrier(MPI_COMM_WORLD));
    check_equal(begun + ended, 0);
    ok(MPI_Barrier(other));
    check(begun == 1 && ended == 1 && operation == BARRIER);
    check_equal(algorithm == ALONE, size == 1);
    ok(MPI_Bcast(in, 17, MPI_INT, 0, other));
    check(begun == 2 && ended == 2 && operation == BCAST && bytes == 17 * sizeof(int));
    ok(MPI_Op_create(on_op, 1, &op));
    ok(MPI_Allreduce(in, out, 40000, MPI_DOUBLE, op, other));
    check(begun == 3 && ended == 3 && operation == ALLREDUCE && bytes == sizeof in);
    check_equal(algorithm, size == 1 ? ALONE : SPLIT);
    check(took > 0);
    if (size > 1)
        check_equal(doing, 3);
    ok(MPI_T_pvar_read(session, state, &doing));
    check_equal(doing, 0);
    ok(MPI_T_pvar_read(session, time, &seconds));
    ok(MPI_T_pvar_read(session, idle, &none));
    check(seconds > 0 && seconds < 60 && none == 0);
    ok(MPI_T_event_handle_free(first, NULL, NULL));
    ok(MPI_T_event_handle_free(last, NULL, NULL));
    ok(MPI_Barrier(other));
    check(begun == 3 && ended == 3);
    ok(MPI_T_pvar_session_free(&session));
    ok(MPI_Op_free(&op));
    ok(MPI_Comm_free(&other));
    MPI_T_finalize();
    return finish();
}
