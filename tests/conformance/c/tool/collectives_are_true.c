/* The variables of each collective operation (calls, bytes, time) agree with the counts of wrappers in this program,
 * at several lengths, with each rank as root and with data in place; calls on other communicators count too. */
#include "tool.h"

enum { BARRIER, BCAST, REDUCE, ALLREDUCE, GATHER, SCATTER, ALLGATHER, ALLTOALL, KINDS };

static const struct { const char *calls, *bytes, *time; } names[KINDS] = {
    {"coll_barrier_calls", NULL, "coll_barrier_time"},
    {"coll_bcast_calls", "coll_bcast_bytes", "coll_bcast_time"},
    {"coll_reduce_calls", "coll_reduce_bytes", "coll_reduce_time"},
    {"coll_allreduce_calls", "coll_allreduce_bytes", "coll_allreduce_time"},
    {"coll_gather_calls", "coll_gather_bytes", "coll_gather_time"},
    {"coll_scatter_calls", "coll_scatter_bytes", "coll_scatter_time"},
    {"coll_allgather_calls", "coll_allgather_bytes", "coll_allgather_time"},
    {"coll_alltoall_calls", "coll_alltoall_bytes", "coll_alltoall_time"}};

static unsigned long long calls[KINDS], bytes[KINDS];
static double seconds[KINDS];

static unsigned long long length(int count, MPI_Datatype type)
{
    int each = 0;
    PMPI_Type_size(type, &each);
    return (unsigned long long)count * (unsigned long long)each;
}

/* Makes the call and measures its time. */
#define counted(kind, data, call)                                                                                      \
    do {                                                                                                               \
        unsigned long long of_call = (data);                                                                           \
        double begin = PMPI_Wtime();                                                                                   \
        int result = (call);                                                                                           \
        seconds[kind] += PMPI_Wtime() - begin;                                                                         \
        bytes[kind] += of_call;                                                                                        \
        calls[kind]++;                                                                                                 \
        return result;                                                                                                 \
    } while (0)

int MPI_Barrier(MPI_Comm comm)
{
    counted(BARRIER, 0, PMPI_Barrier(comm));
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    counted(BCAST, length(count, type), PMPI_Bcast(buffer, count, type, root, comm));
}

int MPI_Reduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    counted(REDUCE, length(count, type), PMPI_Reduce(in, out, count, type, op, root, comm));
}

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    counted(ALLREDUCE, length(count, type), PMPI_Allreduce(in, out, count, type, op, comm));
}

int MPI_Gather(const void *in, int count, MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type, int root,
               MPI_Comm comm)
{
    counted(GATHER, length(count, type), PMPI_Gather(in, count, type, out, out_count, out_type, root, comm));
}

int MPI_Scatter(const void *in, int count, MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type, int root,
                MPI_Comm comm)
{
    counted(SCATTER, length(out_count, out_type), PMPI_Scatter(in, count, type, out, out_count, out_type, root, comm));
}

int MPI_Allgather(const void *in, int count, MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type,
                  MPI_Comm comm)
{
    unsigned long long data = in == MPI_IN_PLACE ? length(out_count, out_type) : length(count, type);
    counted(ALLGATHER, data, PMPI_Allgather(in, count, type, out, out_count, out_type, comm));
}

int MPI_Alltoall(const void *in, int count, MPI_Datatype type, void *out, int out_count, MPI_Datatype out_type,
                 MPI_Comm comm)
{
    int members = 0;
    PMPI_Comm_size(comm, &members);
    counted(ALLTOALL, (unsigned long long)members * length(count, type),
            PMPI_Alltoall(in, count, type, out, out_count, out_type, comm));
}

static void all_kinds(MPI_Comm comm, int root, int count)
{
    static int in[8 * 5000], out[8 * 5000];
    int members = 0;
    ok(MPI_Comm_size(comm, &members));
    ok(MPI_Barrier(comm));
    ok(MPI_Bcast(in, count, MPI_INT, root, comm));
    ok(MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, root, comm));
    ok(MPI_Allreduce(in, out, count, MPI_INT, MPI_MAX, comm));
    ok(MPI_Gather(in, count, MPI_INT, out, count, MPI_INT, root, comm));
    ok(MPI_Scatter(in, count, MPI_INT, out, count, MPI_INT, root, comm));
    ok(MPI_Allgather(in, count, MPI_INT, out, count, MPI_INT, comm));
    ok(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, count, MPI_INT, comm));
    ok(MPI_Alltoall(in, count, MPI_INT, out, count, MPI_INT, comm));
}

int main(int argc, char **argv)
{
    static const int counts[] = {0, 1, 100, 5000};
    MPI_T_pvar_session session;
    MPI_T_pvar_handle of_calls[KINDS], of_bytes[KINDS], of_time[KINDS];
    MPI_Comm other;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    ok(MPI_T_pvar_session_create(&session));
    for (int kind = 0; kind < KINDS; kind++) {
        of_calls[kind] = watch(session, names[kind].calls, MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
        if (names[kind].bytes)
            of_bytes[kind] = watch(session, names[kind].bytes, MPI_T_PVAR_CLASS_AGGREGATE, MPI_COMM_NULL);
        of_time[kind] = watch(session, names[kind].time, MPI_T_PVAR_CLASS_TIMER, MPI_COMM_NULL);
    }
    for (int i = 0; i < 4; i++)
        for (int root = 0; root < size; root++)
            all_kinds(root % 2 ? other : MPI_COMM_WORLD, root, counts[i]);
    for (int kind = 0; kind < KINDS; kind++) {
        double time = -1;
        check_equal(read_pvar(session, of_calls[kind]), calls[kind]);
        if (names[kind].bytes)
            check_equal(read_pvar(session, of_bytes[kind]), bytes[kind]);
        ok(MPI_T_pvar_read(session, of_time[kind], &time));
        /* The library's time lies within the wrapper's time; clocks are rounded to a microsecond at most. */
        check(time > 0 && time <= seconds[kind] + 1e-6 * (double)calls[kind]);
    }
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    MPI_Comm_free(&other);
    return finish();
}
