/* Windows, files, topologies, groups, cancelled sends and parts of a communicator that has processes of two jobs. */
#include "jobs.h"

static MPI_Comm all;
static int place, total;

static void windows(void)
{
    enum { EACH = 5000 };
    MPI_Win win;
    int *mine = calloc(total * EACH, sizeof *mine), value = place + 1, *data = malloc(EACH * sizeof *data);
    for (int i = 0; i < EACH; i++)
        data[i] = place * EACH + i;
    ok(MPI_Win_create(mine, total * EACH * sizeof *mine, sizeof *mine, MPI_INFO_NULL, all, &win));
    ok(MPI_Win_fence(0, win));
    for (int target = 0; target < total; target++)
        ok(MPI_Put(data, EACH, MPI_INT, target, place * EACH, EACH, MPI_INT, win));
    ok(MPI_Win_fence(0, win));
    for (int from = 0; from < total; from++)
        check_equal(mine[from * EACH + EACH - 1], from * EACH + EACH - 1);
    ok(MPI_Win_fence(0, win));
    for (int target = 0; target < total; target++)
        ok(MPI_Accumulate(&value, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_SUM, win));
    ok(MPI_Win_fence(0, win));
    check_equal(mine[0], total * (total + 1) / 2);
    ok(MPI_Win_lock_all(0, win));
    int got = -1;
    ok(MPI_Get(&got, 1, MPI_INT, total - 1, EACH - 1, 1, MPI_INT, win));
    ok(MPI_Win_flush(total - 1, win));
    check_equal(got, EACH - 1);
    ok(MPI_Win_unlock_all(win));
    ok(MPI_Win_free(&win));
    free(mine);
    free(data);

    long *base;
    ok(MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, all, &base, &win));
    *base = 0;
    ok(MPI_Barrier(all));
    for (int i = 0; i < 20; i++) {
        long one = 1;
        ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        ok(MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win));
        ok(MPI_Win_unlock(0, win));
    }
    ok(MPI_Barrier(all));
    if (place == 0) {
        ok(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
        check_equal(*base, 20 * total);
        ok(MPI_Win_unlock(0, win));
    }
    ok(MPI_Win_free(&win));

    /* Jobs that are on one host each, the same one, share a window's memory unless they are to use the network. */
    if (getenv("FERRUM_NET_FORCE") != NULL)
        return;
    MPI_Comm near;
    char own_host[MPI_MAX_PROCESSOR_NAME] = "", first_host[MPI_MAX_PROCESSOR_NAME];
    int together = 0, own = 0, same, one_host = 0;
    ok(MPI_Get_processor_name(own_host, &same));
    memcpy(first_host, own_host, sizeof first_host);
    ok(MPI_Bcast(first_host, sizeof first_host, MPI_CHAR, 0, all));
    same = strcmp(own_host, first_host) == 0;
    ok(MPI_Allreduce(&same, &one_host, 1, MPI_INT, MPI_LAND, all));
    ok(MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, place, MPI_INFO_NULL, &near));
    ok(MPI_Comm_size(near, &together));
    ok(MPI_Comm_rank(near, &own));
    check(one_host ? together == total : together < total);
    int *part, unit;
    MPI_Aint bytes;
    ok(MPI_Win_allocate_shared(sizeof *part, sizeof *part, MPI_INFO_NULL, near, &part, &win));
    ok(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    *part = 100 + own;
    ok(MPI_Win_sync(win));
    ok(MPI_Barrier(near));
    ok(MPI_Win_sync(win));
    for (int i = 0; i < together; i++) {
        int *theirs;
        ok(MPI_Win_shared_query(win, i, &bytes, &unit, &theirs));
        check_equal(*theirs, 100 + i);
    }
    ok(MPI_Win_unlock_all(win));
    ok(MPI_Win_free(&win));
    ok(MPI_Comm_free(&near));
}

static void files(const char *name)
{
    MPI_File file;
    MPI_Offset length = 0;
    int value = place * 3, *values = malloc(total * sizeof *values);
    ok(MPI_File_open(all, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    ok(MPI_File_write_at_all(file, place * (MPI_Offset)sizeof value, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    ok(MPI_File_sync(file));
    ok(MPI_Barrier(all));
    ok(MPI_File_read_at_all(file, 0, values, total, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 0; i < total; i++)
        check_equal(values[i], i * 3);
    ok(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    ok(MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    ok(MPI_File_write_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    ok(MPI_File_sync(file));
    ok(MPI_Barrier(all));
    ok(MPI_File_get_size(file, &length));
    check_equal(length, 2 * total * (MPI_Offset)sizeof value);
    ok(MPI_File_close(&file));
    free(values);
}

static void communicators(void)
{
    MPI_Comm grid, some, between, ring;
    MPI_Group group, subset;
    int none = 0, left, right, got = -1, sum = 0;
    ok(MPI_Cart_create(all, 1, &total, (int[]){1}, 1, &grid));
    ok(MPI_Cart_shift(grid, 0, 1, &left, &right));
    int cell;
    ok(MPI_Comm_rank(grid, &cell));
    ok(MPI_Sendrecv(&cell, 1, MPI_INT, right, 0, &got, 1, MPI_INT, left, 0, grid, MPI_STATUS_IGNORE));
    check_equal(got, (cell + total - 1) % total);
    ok(MPI_Comm_free(&grid));
    int source = (place + total - 1) % total, dest = (place + 1) % total;
    ok(MPI_Dist_graph_create_adjacent(all, 1, &source, MPI_UNWEIGHTED, 1, &dest, MPI_UNWEIGHTED, MPI_INFO_NULL, none,
                                      &ring));
    ok(MPI_Neighbor_allgather(&place, 1, MPI_INT, &got, 1, MPI_INT, ring));
    check_equal(got, source);
    ok(MPI_Comm_free(&ring));

    ok(MPI_Comm_group(all, &group));
    int ends[2] = {0, total - 1};
    ok(MPI_Group_incl(group, 2, ends, &subset));
    if (place == 0 || place == total - 1) {
        ok(MPI_Comm_create_group(all, subset, 5, &some));
        ok(MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, some));
        check_equal(sum, total - 1);
        ok(MPI_Comm_free(&some));
    }
    ok(MPI_Comm_create(all, subset, &some));
    check((some != MPI_COMM_NULL) == (place == 0 || place == total - 1));
    if (some != MPI_COMM_NULL)
        ok(MPI_Comm_free(&some));
    ok(MPI_Group_free(&subset));
    ok(MPI_Group_free(&group));

    /* Even and odd places as an intercommunicator. */
    MPI_Comm half;
    ok(MPI_Comm_split(all, place % 2, place, &half));
    ok(MPI_Intercomm_create(half, 0, all, !(place % 2), 8, &between));
    ok(MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_MAX, between));
    check_equal(sum, (total - 1) % 2 == !(place % 2) ? total - 1 : total - 2);
    ok(MPI_Comm_disconnect(&between));
    ok(MPI_Comm_free(&half));
}

static void messages(void)
{
    MPI_Request request;
    MPI_Status status;
    int peer = total - 1 - place, word = place, cancelled = -1, flag = 0;
    if (place == 0) {
        /* A message that has not been received is given back. */
        ok(MPI_Issend(&word, 1, MPI_INT, peer, 77, all, &request));
        ok(MPI_Cancel(&request));
        ok(MPI_Wait(&request, &status));
        ok(MPI_Test_cancelled(&status, &cancelled));
        check_equal(cancelled, 1);
        ok(MPI_Send(&word, 1, MPI_INT, peer, 78, all));
    } else if (place == total - 1) {
        ok(MPI_Recv(&word, 1, MPI_INT, 0, 78, all, &status));
        ok(MPI_Iprobe(0, 77, all, &flag, &status));
        check(!flag);
    }
    /* Strided data, persistent and partitioned messages. */
    MPI_Datatype strided;
    int *out = malloc(90000 * sizeof *out), *in = calloc(90000, sizeof *in);
    for (int i = 0; i < 90000; i++)
        out[i] = place + i;
    ok(MPI_Type_vector(30000, 1, 3, MPI_INT, &strided));
    ok(MPI_Type_commit(&strided));
    ok(MPI_Sendrecv(out, 1, strided, peer, 1, in, 1, strided, peer, 1, all, MPI_STATUS_IGNORE));
    check_equal(in[3 * 29999], peer + 3 * 29999);
    check_equal(in[1], 0);
    ok(MPI_Type_free(&strided));
    if (place != peer) {
        MPI_Request pair[2];
        ok(MPI_Psend_init(out, 4, 10000, MPI_INT, peer, 2, all, MPI_INFO_NULL, &pair[0]));
        ok(MPI_Precv_init(in, 4, 10000, MPI_INT, peer, 2, all, MPI_INFO_NULL, &pair[1]));
        for (int turn = 0; turn < 3; turn++) {
            ok(MPI_Startall(2, pair));
            ok(MPI_Pready_range(0, 3, pair[0]));
            ok(MPI_Waitall(2, pair, MPI_STATUSES_IGNORE));
            check_equal(in[39999], peer + 39999);
        }
        ok(MPI_Request_free(&pair[0]));
        ok(MPI_Request_free(&pair[1]));
    }
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    MPI_Comm inter;
    char port[MPI_MAX_PORT_NAME] = "", name[64];
    pid_t child = 0;
    begin(&argc, &argv);
    int started = argc > 1;
    if (started) {
        ok(MPI_Comm_connect(argv[2], MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    } else {
        if (rank == 0) {
            ok(MPI_Open_port(MPI_INFO_NULL, port));
            child = start_job(2, argv[0], "connect", port);
        }
        ok(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    }
    ok(MPI_Intercomm_merge(inter, started, &all));
    ok(MPI_Comm_rank(all, &place));
    ok(MPI_Comm_size(all, &total));
    snprintf(name, sizeof name, "/tmp/ferrum-merged-%ld", (long)getpid());
    ok(MPI_Bcast(name, sizeof name, MPI_CHAR, 0, all));
    messages();
    communicators();
    windows();
    files(name);
    ok(MPI_Comm_disconnect(&all));
    ok(MPI_Comm_disconnect(&inter));
    if (started)
        return finish_silently();
    if (rank == 0)
        end_job(child);
    return finish();
}
