/* Variables bound to operations, groups, info objects and sessions count the program's calls on the object, and
 * become invalid when it is freed. A value that names no object of the kind is refused. */
#include "bound.h"

#define COUNTER MPI_T_PVAR_CLASS_COUNTER
#define LEVEL MPI_T_PVAR_CLASS_LEVEL

static void smaller(void *in, void *inout, int *count, MPI_Datatype *type)
{
    for (int i = 0; i < *count; i++)
        if (((int *)in)[i] < ((int *)inout)[i])
            ((int *)inout)[i] = ((int *)in)[i];
}

static void operations(MPI_T_pvar_session session)
{
    MPI_Op own, sum = MPI_SUM, max = MPI_MAX, null = MPI_OP_NULL, stale;
    int in[50] = {0}, out[50], commutes;
    double *shared, part[4] = {1, 2, 3, 4};
    unsigned long long sums = 0, sum_bytes = 0, owns = 0, own_bytes = 0;
    MPI_Win win;
    ok(MPI_Op_create(smaller, 1, &own));
    stale = own;
    MPI_T_pvar_handle sum_calls = watch_object(session, "coll_op_calls", COUNTER, &sum);
    MPI_T_pvar_handle sum_data = watch_object(session, "coll_op_bytes", MPI_T_PVAR_CLASS_AGGREGATE, &sum);
    MPI_T_pvar_handle own_calls = watch_object(session, "coll_op_calls", COUNTER, &own);
    MPI_T_pvar_handle own_data = watch_object(session, "coll_op_bytes", MPI_T_PVAR_CLASS_AGGREGATE, &own);
    MPI_T_pvar_handle unused = watch_object(session, "coll_op_calls", COUNTER, &max);
    ok(MPI_Win_allocate(sizeof part, sizeof *part, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &win));
    ok(MPI_Win_fence(0, win));
    for (int n = 0; n <= 50; n += 5) {
        ok(MPI_Allreduce(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        ok(MPI_Reduce(in, out, n, MPI_INT, own, 0, MPI_COMM_WORLD));
        ok(MPI_Reduce_local(in, out, n, MPI_INT, own));
        ok(MPI_Bcast(in, n, MPI_INT, 0, MPI_COMM_WORLD));
        sums++, sum_bytes += (unsigned long long)n * sizeof(int);
        owns += 2, own_bytes += 2 * (unsigned long long)n * sizeof(int);
    }
    ok(MPI_Accumulate(part, 3, MPI_DOUBLE, rank, 0, 3, MPI_DOUBLE, MPI_SUM, win));
    sums++, sum_bytes += 3 * sizeof *part;
    ok(MPI_Win_fence(0, win));
    ok(MPI_Win_free(&win));
    ok(MPI_Op_commutative(own, &commutes));
    check_equal(read_pvar(session, sum_calls), sums);
    check_equal(read_pvar(session, sum_data), sum_bytes);
    check_equal(read_pvar(session, own_calls), owns);
    check_equal(read_pvar(session, own_data), own_bytes);
    check_equal(read_pvar(session, unused), 0);
    ok(MPI_Op_free(&own));
    check_ended(session, own_calls);
    check_ended(session, own_data);
    refuse_object(session, "coll_op_calls", COUNTER, &stale);
    refuse_object(session, "coll_op_calls", COUNTER, &null);
    refuse_object(session, "coll_op_calls", COUNTER, NULL);
    /* The next operation is another object, even if it has the slot of the first one. */
    ok(MPI_Op_create(smaller, 1, &own));
    own_calls = watch_object(session, "coll_op_calls", COUNTER, &own);
    ok(MPI_Reduce_local(in, out, 1, MPI_INT, own));
    check_equal(read_pvar(session, own_calls), 1);
    ok(MPI_Op_free(&own));
}

static void groups(MPI_T_pvar_session session)
{
    MPI_Group world, pair, empty = MPI_GROUP_EMPTY, null = MPI_GROUP_NULL, stale;
    int first = 0, answer;
    ok(MPI_Comm_group(MPI_COMM_WORLD, &world));
    stale = world;
    MPI_T_pvar_handle members = watch_object(session, "objects_group_processes", MPI_T_PVAR_CLASS_SIZE, &world);
    MPI_T_pvar_handle uses = watch_object(session, "objects_group_uses", COUNTER, &world);
    MPI_T_pvar_handle none = watch_object(session, "objects_group_processes", MPI_T_PVAR_CLASS_SIZE, &empty);
    check_equal(read_pvar(session, members), size);
    check_equal(read_pvar(session, none), 0);
    check_equal(MPI_T_pvar_stop(session, members), MPI_T_ERR_PVAR_NO_STARTSTOP);
    check_equal(MPI_T_pvar_reset(session, members), MPI_T_ERR_PVAR_NO_WRITE);
    for (int i = 0; i < 7; i++)
        ok(MPI_Group_size(world, &answer));
    ok(MPI_Group_incl(world, 1, &first, &pair));
    ok(MPI_Group_compare(world, pair, &answer));
    check_equal(read_pvar(session, uses), 9);
    MPI_T_pvar_handle one = watch_object(session, "objects_group_processes", MPI_T_PVAR_CLASS_SIZE, &pair);
    check_equal(read_pvar(session, one), 1);
    ok(MPI_Group_free(&world));
    check_ended(session, uses);
    check_ended(session, members);
    check_equal(read_pvar(session, one), 1);
    refuse_object(session, "objects_group_uses", COUNTER, &stale);
    refuse_object(session, "objects_group_uses", COUNTER, &null);
    ok(MPI_Group_free(&pair));
    check_ended(session, one);
}

static void infos(MPI_T_pvar_session session)
{
    MPI_Info info, copy, stale, null = MPI_INFO_NULL;
    char key[16];
    int flag;
    unsigned long long uses = 0;
    ok(MPI_Info_create(&info));
    stale = info;
    ok(MPI_Info_set(info, "before", "1"));
    MPI_T_pvar_handle keys = watch_object(session, "objects_info_keys", LEVEL, &info);
    MPI_T_pvar_handle used = watch_object(session, "objects_info_uses", COUNTER, &info);
    check_equal(read_pvar(session, keys), 1);
    for (int i = 1; i <= 20; i++) {
        snprintf(key, sizeof key, "key %d", i);
        ok(MPI_Info_set(info, key, "value"));
        check_equal(read_pvar(session, keys), 1 + i);
        ok(MPI_Info_get_nkeys(info, &flag));
        check_equal(flag, 1 + i);
        uses += 2;
    }
    ok(MPI_Info_set(info, "before", "2"));
    ok(MPI_Info_delete(info, "key 3"));
    uses += 2;
    check_equal(read_pvar(session, keys), 20);
    MPI_Comm dup;
    ok(MPI_Comm_dup_with_info(MPI_COMM_SELF, info, &dup));
    ok(MPI_Comm_free(&dup));
    ok(MPI_Info_dup(info, &copy));
    uses += 2;
    check_equal(read_pvar(session, used), uses);
    MPI_T_pvar_handle others = watch_object(session, "objects_info_keys", LEVEL, &copy);
    check_equal(read_pvar(session, others), 20);
    ok(MPI_Info_free(&info));
    check_ended(session, keys);
    check_ended(session, used);
    refuse_object(session, "objects_info_keys", LEVEL, &stale);
    refuse_object(session, "objects_info_keys", LEVEL, &null);
    check_equal(read_pvar(session, others), 20);
    ok(MPI_Info_free(&copy));
}

static void sessions(MPI_T_pvar_session session)
{
    MPI_Session mine, stale, null = MPI_SESSION_NULL;
    MPI_Group made[3];
    MPI_Info info;
    int count;
    ok(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &mine));
    stale = mine;
    ok(MPI_Group_from_session_pset(mine, "mpi://WORLD", &made[0]));
    MPI_T_pvar_handle uses = watch_object(session, "objects_session_uses", COUNTER, &mine);
    MPI_T_pvar_handle living = watch_object(session, "objects_session_groups", LEVEL, &mine);
    MPI_T_pvar_handle most = watch_object(session, "objects_session_groups", MPI_T_PVAR_CLASS_HIGHWATERMARK, &mine);
    check_equal(read_pvar(session, living), 1);
    ok(MPI_Session_get_num_psets(mine, MPI_INFO_NULL, &count));
    ok(MPI_Session_get_info(mine, &info));
    ok(MPI_Info_free(&info));
    ok(MPI_Group_from_session_pset(mine, "mpi://SELF", &made[1]));
    ok(MPI_Group_from_session_pset(mine, "mpi://WORLD", &made[2]));
    check_equal(read_pvar(session, uses), 4);
    check_equal(read_pvar(session, living), 3);
    for (int i = 0; i < 2; i++) {
        ok(MPI_Group_free(&made[i]));
        check_equal(read_pvar(session, living), 2 - i);
    }
    check_equal(read_pvar(session, most), 3);
    ok(MPI_Session_finalize(&mine));
    check_ended(session, uses);
    check_ended(session, living);
    check_ended(session, most);
    refuse_object(session, "objects_session_uses", COUNTER, &stale);
    refuse_object(session, "objects_session_uses", COUNTER, &null);
    ok(MPI_Group_free(&made[2]));
}

/* The variables of each kind refuse a handle of another kind, a null handle and any other word. */
static void wrong_kinds(MPI_T_pvar_session session)
{
    static const struct { const char *name; int class, bind; } all[] = {
        {"coll_op_calls", COUNTER, MPI_T_BIND_MPI_OP},
        {"objects_group_uses", COUNTER, MPI_T_BIND_MPI_GROUP},
        {"objects_info_keys", LEVEL, MPI_T_BIND_MPI_INFO},
        {"objects_session_uses", COUNTER, MPI_T_BIND_MPI_SESSION},
        {"p2p_request_bytes", MPI_T_PVAR_CLASS_SIZE, MPI_T_BIND_MPI_REQUEST},
        {"p2p_message_bytes", MPI_T_PVAR_CLASS_SIZE, MPI_T_BIND_MPI_MESSAGE},
    };
    MPI_Info info;
    ok(MPI_Info_create(&info));
    size_t words[] = {0, (size_t)MPI_COMM_WORLD, (size_t)MPI_INT, (size_t)MPI_REQUEST_NULL, (size_t)MPI_MESSAGE_NULL,
                      (size_t)MPI_MESSAGE_NO_PROC, 4096, ~(size_t)0, (size_t)info};
    for (size_t v = 0; v < sizeof all / sizeof *all; v++) {
        check_equal(pvar_info(find_pvar(all[v].name, all[v].class)).bind, all[v].bind);
        for (size_t w = 0; w < sizeof words / sizeof *words; w++)
            if (words[w] != (size_t)info || all[v].bind != MPI_T_BIND_MPI_INFO)
                refuse_object(session, all[v].name, all[v].class, &words[w]);
        refuse_object(session, all[v].name, all[v].class, NULL);
    }
    ok(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
    MPI_T_pvar_session session;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    operations(session);
    groups(session);
    infos(session);
    sessions(session);
    wrong_kinds(session);
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
