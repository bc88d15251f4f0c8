/* The variables of the last algorithm of each collective operation and of the calls by algorithm: they agree with
 * the settings, the number of processes and the bytes. Calls that begin while no handle exists are not counted. */
#include "tool.h"

enum { AUTO, FLAT, TREE };
enum { NONE = -1, ALONE, PAIR, THROUGH_ONE, STEPS, SPLIT, DIRECT, RING, SHARED, HOSTS, GROUPS, ALGORITHMS };
enum { BARRIER, BCAST, REDUCE, ALLREDUCE, GATHER, SCATTER, ALLGATHER, ALLTOALL, OPERATIONS };
enum { MOST = 20000 };

/* The last algorithm of each operation, and its calls by algorithm. */
static const char *const NAMES[][2] = {
    {"coll_barrier_algorithm", "coll_barrier_algorithm_calls"},
    {"coll_bcast_algorithm", "coll_bcast_algorithm_calls"},
    {"coll_reduce_algorithm", "coll_reduce_algorithm_calls"},
    {"coll_allreduce_algorithm", "coll_allreduce_algorithm_calls"},
    {"coll_gather_algorithm", "coll_gather_algorithm_calls"},
    {"coll_scatter_algorithm", "coll_scatter_algorithm_calls"},
    {"coll_allgather_algorithm", "coll_allgather_algorithm_calls"},
    {"coll_alltoall_algorithm", "coll_alltoall_algorithm_calls"},
};
static MPI_T_pvar_session session;
static MPI_T_pvar_handle last[OPERATIONS], calls[OPERATIONS];
static unsigned long long expected[OPERATIONS][ALGORITHMS];
static int in[16 * MOST], out[16 * MOST];

static void set(const char *name, int shape)
{
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int index = -1, count = 0;
    ok(MPI_T_cvar_get_index(name, &index));
    ok(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    ok(MPI_T_cvar_write(handle, &shape));
    ok(MPI_T_cvar_handle_free(&handle));
}

static void call(int which, int n)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    switch (which) {
    case BARRIER: ok(MPI_Barrier(comm)); break;
    case BCAST: ok(MPI_Bcast(in, n, MPI_INT, 0, comm)); break;
    case REDUCE: ok(MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, 0, comm)); break;
    case ALLREDUCE: ok(MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, comm)); break;
    case GATHER: ok(MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, 0, comm)); break;
    case SCATTER: ok(MPI_Scatter(in, n, MPI_INT, out, n, MPI_INT, 0, comm)); break;
    case ALLGATHER: ok(MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, comm)); break;
    case ALLTOALL: ok(MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, comm)); break;
    }
}

static int last_of(int which)
{
    int value = -9;
    ok(MPI_T_pvar_read(session, last[which], &value));
    return value;
}

static void check_counts(int which)
{
    unsigned long long counts[ALGORITHMS];
    ok(MPI_T_pvar_read(session, calls[which], counts));
    for (int i = 0; i < ALGORITHMS; i++)
        check_equal(counts[i], expected[which][i]);
}

/* Makes the call this often, and expects this algorithm if there are three processes or more. */
static void chooses(int which, int n, int times, int of_many)
{
    int algorithm = of_many;
    if (size == 1 || (n == 0 && which != BARRIER))
        algorithm = ALONE;
    else if (size == 2 && of_many != SPLIT)
        algorithm = PAIR;
    for (int i = 0; i < times; i++)
        call(which, n);
    expected[which][algorithm] += (unsigned long long)times;
    check_equal(last_of(which), algorithm);
    check_counts(which);
}

static void watch_all(void)
{
    for (int i = 0; i < OPERATIONS; i++) {
        int count = 0, index = find_pvar(NAMES[i][1], MPI_T_PVAR_CLASS_COUNTER);
        last[i] = watch(session, NAMES[i][0], MPI_T_PVAR_CLASS_STATE, MPI_COMM_NULL);
        ok(MPI_T_pvar_handle_alloc(session, index, NULL, &calls[i], &count));
        check_equal(count, ALGORITHMS);
        ok(MPI_T_pvar_start(session, calls[i]));
    }
}

static void forget_all(void)
{
    for (int i = 0; i < OPERATIONS; i++) {
        ok(MPI_T_pvar_handle_free(session, &last[i]));
        ok(MPI_T_pvar_handle_free(session, &calls[i]));
    }
    memset(expected, 0, sizeof expected);
}

static void check_names(void)
{
    char name[64];
    int number = 0, length = (int)sizeof name, value = -9;
    MPI_T_enum items = pvar_info(find_pvar("coll_bcast_algorithm", MPI_T_PVAR_CLASS_STATE)).items;
    ok(MPI_T_enum_get_info(items, &number, name, &length));
    check(number == ALGORITHMS + 1 && strcmp(name, "coll_algorithm") == 0);
    for (int i = 0; i < number; i++) {
        length = (int)sizeof name;
        ok(MPI_T_enum_get_item(items, i, &value, name, &length));
        check_equal(value, i + NONE);
    }
}

/* On an intercommunicator, one of whose groups has one process. */
static void between_groups(void)
{
    MPI_Comm part, between;
    ok(MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &part));
    ok(MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 5, &between));
    watch_all();
    ok(MPI_Barrier(between));
    ok(MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, between));
    ok(MPI_Allgather(in, 3, MPI_INT, out, 3, MPI_INT, between));
    const int called[] = {BARRIER, ALLREDUCE, ALLGATHER};
    for (int i = 0; i < 3; i++) {
        expected[called[i]][GROUPS]++;
        check_equal(last_of(called[i]), GROUPS);
        check_counts(called[i]);
    }
    forget_all();
    ok(MPI_Comm_free(&between));
    ok(MPI_Comm_free(&part));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    check_names();
    call(BCAST, 1);
    watch_all();
    for (int i = 0; i < OPERATIONS; i++)
        check_equal(last_of(i), NONE);

    const char *const shapes[] = {"coll_barrier_shape", "coll_bcast_shape", "coll_reduce_shape",
                                  "coll_allreduce_shape"};
    for (int shape = FLAT; shape <= TREE; shape++)
        for (int which = BARRIER; which <= ALLREDUCE; which++) {
            set(shapes[which], shape);
            chooses(which, 4, shape + which, shape == FLAT ? THROUGH_ONE : STEPS);
        }
    chooses(BCAST, 0, 2, ALONE);
    chooses(REDUCE, MOST, 1, SPLIT);
    chooses(ALLREDUCE, MOST, 3, SPLIT);
    chooses(GATHER, 3, 1, THROUGH_ONE);
    chooses(SCATTER, 3, 2, THROUGH_ONE);
    chooses(ALLGATHER, MOST, 1, DIRECT);
    chooses(ALLTOALL, 3, 5, DIRECT);
    for (int i = 0; i < OPERATIONS; i++)
        check_counts(i);

    /* Calls without a handle are not counted, and do not change the last algorithm. */
    forget_all();
    call(ALLTOALL, 0);
    call(SCATTER, 3);
    watch_all();
    check_equal(last_of(ALLTOALL), size == 1 ? ALONE : size == 2 ? PAIR : DIRECT);
    chooses(SCATTER, 3, 1, THROUGH_ONE);
    forget_all();
    if (size > 1)
        between_groups();
    ok(MPI_T_pvar_session_free(&session));
    ok(MPI_T_finalize());
    return finish();
}
