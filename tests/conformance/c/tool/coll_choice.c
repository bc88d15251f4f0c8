/* The algorithm can be set for each collective operation, or for all at once: the event of the call reports it, and
 * the number of messages that rank 0 sends and receives agrees. No algorithm can be set during a collective call. */
#include "events.h"

enum { AUTO, FLAT, TREE };
enum { ALONE, PAIR, THROUGH_ONE, IN_STEPS, SPLIT, DIRECT, SHARED = 7 };
enum { BARRIER, BCAST, REDUCE, ALLREDUCE, GATHER, SCATTER, ALLGATHER, ALLTOALL, REDUCE_SCATTER = 13, IN_BLOCKS };

static const char *const SHAPES[] = {"coll_barrier_shape", "coll_bcast_shape", "coll_reduce_shape",
                                     "coll_allreduce_shape"};
static MPI_T_pvar_session session;
static MPI_T_pvar_handle sent, received;
static MPI_Comm comm;
static int operation = -1, algorithm = -1;

static void on_begin(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                     void *data)
{
    (void)registration, (void)safety, (void)data;
    operation = int_element(instance, 0);
    algorithm = int_element(instance, 1);
}

static MPI_T_cvar_handle setting(const char *name)
{
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int index = -1, count = 0, scope = -1;
    ok(MPI_T_cvar_get_index(name, &index));
    ok(MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &scope));
    check_equal(scope, MPI_T_SCOPE_ALL_EQ);
    ok(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    return handle;
}

static void set_shape(const char *name, int shape)
{
    MPI_T_cvar_handle handle = setting(name);
    ok(MPI_T_cvar_write(handle, &shape));
    ok(MPI_T_cvar_handle_free(&handle));
}

static void set_bytes(const char *name, unsigned long long bytes)
{
    MPI_T_cvar_handle handle = setting(name);
    ok(MPI_T_cvar_write(handle, &bytes));
    ok(MPI_T_cvar_handle_free(&handle));
}

static void call(int which)
{
    static int in[64], out[1024], ones[64];
    for (int i = 0; i < size; i++)
        ones[i] = 1;
    switch (which) {
    case BARRIER: ok(MPI_Barrier(comm)); break;
    case BCAST: ok(MPI_Bcast(in, 4, MPI_INT, 0, comm)); break;
    case REDUCE: ok(MPI_Reduce(in, out, 4, MPI_INT, MPI_SUM, 0, comm)); break;
    case ALLREDUCE: ok(MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, comm)); break;
    case REDUCE_SCATTER: ok(MPI_Reduce_scatter(in, out, ones, MPI_INT, MPI_SUM, comm)); break;
    case IN_BLOCKS: ok(MPI_Reduce_scatter_block(in, out, 1, MPI_INT, MPI_SUM, comm)); break;
    case GATHER: ok(MPI_Gather(in, 4, MPI_INT, out, 4, MPI_INT, 0, comm)); break;
    case SCATTER: ok(MPI_Scatter(in, 4, MPI_INT, out, 4, MPI_INT, 0, comm)); break;
    case ALLTOALL: ok(MPI_Alltoall(in, 4, MPI_INT, out, 4, MPI_INT, comm)); break;
    case ALLGATHER: ok(MPI_Allgather(in, 4, MPI_INT, out, 4, MPI_INT, comm)); break;
    }
    check_equal(operation, which);
}

static int steps_of(int processes)
{
    int steps = 0;
    while (1 << steps < processes)
        steps++;
    return steps;
}

/* Messages that rank 0 sends, or receives, in a call that runs in steps. */
static int partners_of(int which)
{
    /* If the number of processes is no power of two, the first processes exchange data through their neighbours. */
    return which == ALLREDUCE && (size & (size - 1)) ? 1 : steps_of(size);
}

/* What is chosen of these processes where more would take `expected`. */
static int chosen(int expected)
{
    return size == 1 ? ALONE : size == 2 && expected != SPLIT ? PAIR : expected;
}

/* Calls it, and checks the algorithm; on rank 0 of three or more also how many messages it sent or received. */
static void takes(int which, int expected)
{
    unsigned long long before[2] = {read_pvar(session, sent), read_pvar(session, received)};
    call(which);
    check_equal(algorithm, chosen(expected));
    if (rank != 0 || size < 3)
        return;
    long out = (long)(read_pvar(session, sent) - before[0]), in = (long)(read_pvar(session, received) - before[1]);
    int partners = expected == IN_STEPS ? partners_of(which) : size - 1;
    check_equal(out, which == REDUCE || which == GATHER ? 0 : partners);
    check_equal(in, which == BCAST || which == SCATTER ? 0 : partners);
}

static void one_by_one(void)
{
    for (int which = BARRIER; which <= ALLREDUCE; which++)
        for (int shape = TREE; shape >= FLAT; shape--) {
            set_shape("coll_shape", shape == FLAT ? TREE : FLAT);
            set_shape(SHAPES[which], shape);
            takes(which, shape == FLAT ? THROUGH_ONE : IN_STEPS);
            for (int other = BARRIER; other <= ALLREDUCE; other++)
                if (other != which)
                    takes(other, shape == FLAT ? IN_STEPS : THROUGH_ONE);
            set_shape(SHAPES[which], AUTO);
            takes(which, shape == FLAT ? IN_STEPS : THROUGH_ONE);
        }
}

static void all_at_once(void)
{
    for (int shape = FLAT; shape <= TREE; shape++) {
        set_shape("coll_shape", shape);
        for (int which = BARRIER; which <= ALLREDUCE; which++)
            takes(which, shape == FLAT ? THROUGH_ONE : IN_STEPS);
        takes(ALLGATHER, shape == FLAT ? THROUGH_ONE : IN_STEPS);
    }
    set_shape("coll_allgather_shape", FLAT);
    takes(ALLGATHER, THROUGH_ONE);
    set_shape("coll_allgather_shape", AUTO);
    takes(ALLGATHER, IN_STEPS);
    for (int which = REDUCE_SCATTER; which <= IN_BLOCKS; which++)
        for (int shape = FLAT; shape <= TREE; shape++) {
            set_shape("coll_shape", shape == FLAT ? TREE : FLAT);
            set_shape("coll_reduce_scatter_shape", shape);
            call(which);
            check_equal(algorithm, chosen(shape == FLAT ? THROUGH_ONE : IN_STEPS));
            set_shape("coll_reduce_scatter_shape", AUTO);
            call(which);
            check_equal(algorithm, chosen(shape == FLAT ? IN_STEPS : THROUGH_ONE));
        }
    set_shape("coll_shape", TREE);
}

static void by_length(void)
{
    set_bytes("coll_allgather_limit", (unsigned long long)size * 16 - 1);
    takes(ALLGATHER, DIRECT);
    set_bytes("coll_allgather_limit", (unsigned long long)size * 16);
    takes(ALLGATHER, IN_STEPS);
    set_bytes("coll_split_limit", 16);
    call(ALLREDUCE);
    check_equal(algorithm, size == 1 ? ALONE : SPLIT);
    call(REDUCE);
    check_equal(algorithm, size == 1 ? ALONE : SPLIT);
    set_bytes("coll_split_limit", 17);
    takes(ALLREDUCE, IN_STEPS);
    takes(REDUCE, IN_STEPS);
}

static int share_memory(void)
{
    MPI_Comm here;
    int sharing;
    ok(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here));
    ok(MPI_Comm_size(here, &sharing));
    ok(MPI_Comm_free(&here));
    return sharing == size;
}

/* Calls go through shared memory where their shape is auto; another shape excludes it for its operation only. */
static void instead_of_shared_memory(void)
{
    static const struct {
        const char *name;
        int which, shape, expected;
    } choices[] = {{"coll_gather_shape", GATHER, FLAT, THROUGH_ONE},
                   {"coll_scatter_shape", SCATTER, FLAT, THROUGH_ONE},
                   {"coll_alltoall_shape", ALLTOALL, FLAT, DIRECT},
                   {"coll_alltoall_shape", ALLTOALL, TREE, IN_STEPS}};
    int tree = TREE;
    set_shape("coll_shape", AUTO);
    set_shape("coll_shared", 1);
    /* The first call with shared memory exchanges where the processes have it. */
    call(BARRIER);
    for (int at = 0; at < 4; at++) {
        set_shape(choices[at].name, choices[at].shape);
        takes(choices[at].which, choices[at].expected);
        for (int other = 0; other < 4; other++)
            if (choices[other].which != choices[at].which) {
                call(choices[other].which);
                check_equal(algorithm, size == 1 ? ALONE : SHARED);
            }
        set_shape(choices[at].name, AUTO);
        call(choices[at].which);
        check_equal(algorithm, size == 1 ? ALONE : SHARED);
    }
    MPI_T_cvar_handle gather = setting("coll_gather_shape");
    check(MPI_T_cvar_write(gather, &tree) != MPI_SUCCESS);
    ok(MPI_T_cvar_handle_free(&gather));
    set_shape("coll_shared", 0);
    set_shape("coll_shape", TREE);
}

static MPI_T_cvar_handle shape_of_bcast;
static int codes[2], looked;

static void on_op(void *in, void *inout, int *length, MPI_Datatype *type)
{
    int flat = FLAT;
    MPI_T_cvar_handle another = MPI_T_CVAR_HANDLE_NULL;
    unsigned long long bytes = 1;
    (void)in, (void)inout, (void)length, (void)type;
    looked++;
    codes[0] = MPI_T_cvar_write(shape_of_bcast, &flat);
    another = setting("coll_split_limit");
    codes[1] = MPI_T_cvar_write(another, &bytes);
    ok(MPI_T_cvar_handle_free(&another));
}

/* The program's own operation runs during a call. */
static void not_while_under_way(void)
{
    int in = 1, out, shape = -1, flat = FLAT, all = 0;
    MPI_Op op;
    shape_of_bcast = setting("coll_bcast_shape");
    ok(MPI_Op_create(on_op, 1, &op));
    ok(MPI_Allreduce(&in, &out, 1, MPI_INT, op, comm));
    ok(MPI_Allreduce(&looked, &all, 1, MPI_INT, MPI_SUM, comm));
    check_equal(all > 0, size > 1);
    if (looked > 0) {
        check_equal(codes[0], MPI_T_ERR_CVAR_SET_NOT_NOW);
        check_equal(codes[1], MPI_T_ERR_CVAR_SET_NOT_NOW);
    }
    ok(MPI_T_cvar_read(shape_of_bcast, &shape));
    check_equal(shape, AUTO);
    ok(MPI_T_cvar_write(shape_of_bcast, &flat));
    takes(BCAST, THROUGH_ONE);
    takes(BARRIER, IN_STEPS);
    ok(MPI_T_cvar_handle_free(&shape_of_bcast));
    ok(MPI_Op_free(&op));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const int sharing = share_memory();
    tool_begin();
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    ok(MPI_T_pvar_session_create(&session));
    sent = watch(session, "p2p_eager_sent", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    received = watch(session, "p2p_eager_received", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    MPI_T_event_registration begun = add_callback("coll_begin", comm, MPI_T_CB_REQUIRE_MPI_RESTRICTED, on_begin, NULL);
    one_by_one();
    all_at_once();
    by_length();
    if (sharing)
        instead_of_shared_memory();
    not_while_under_way();
    ok(MPI_T_event_handle_free(begun, NULL, NULL));
    ok(MPI_T_pvar_session_free(&session));
    ok(MPI_Comm_free(&comm));
    MPI_T_finalize();
    return finish();
}
