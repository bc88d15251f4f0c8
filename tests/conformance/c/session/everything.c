/* A program with sessions only: on a communicator of a session's process set it uses windows, a file, ports, and
 * processes that it spawns. All of that is freed before the session ends, and a second session works as the first. */
#include "session.h"

#include <unistd.h>

enum { SPAWNED = 2, WORDS = 5000 };

/* Puts, sums and an exclusive lock, in epochs of all kinds. */
static void use_window(MPI_Comm comm)
{
    MPI_Win win;
    long *memory, one = 1, found = -1, word = 100 + rank;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    ok(MPI_Win_allocate(3 * sizeof *memory, sizeof *memory, MPI_INFO_NULL, comm, &memory, &win));
    ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    memory[0] = -1;
    memory[1] = memory[2] = 0;
    ok(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    ok(MPI_Put(&word, 1, MPI_LONG, right, 0, 1, MPI_LONG, win));
    for (int i = 0; i < size; i++)
        ok(MPI_Accumulate(&word, 1, MPI_LONG, i, 1, 1, MPI_LONG, MPI_SUM, win));
    ok(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    check_equal(memory[0], 100 + left);
    check_equal(memory[1], 100L * size + size * (size - 1) / 2);
    ok(MPI_Barrier(comm));
    /* Not atomic without the lock. */
    for (int i = 0; i < 20; i++) {
        ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        ok(MPI_Get(&found, 1, MPI_LONG, 0, 2, 1, MPI_LONG, win));
        ok(MPI_Win_flush(0, win));
        found += one;
        ok(MPI_Put(&found, 1, MPI_LONG, 0, 2, 1, MPI_LONG, win));
        ok(MPI_Win_unlock(0, win));
    }
    ok(MPI_Barrier(comm));
    ok(MPI_Win_lock_all(0, win));
    ok(MPI_Fetch_and_op(NULL, &found, MPI_LONG, 0, 2, MPI_NO_OP, win));
    ok(MPI_Win_unlock_all(win));
    check_equal(found, 20L * size);
    ok(MPI_Win_free(&win));
    check(win == MPI_WIN_NULL);
}

/* Each process writes a block, and reads that of its neighbour. */
static void use_file(MPI_Comm comm)
{
    MPI_File file;
    MPI_Offset length = -1;
    MPI_Status status;
    char name[300];
    static long words[WORDS];
    int pid = (int)getpid(), right = (rank + 1) % size, count = -1;
    const char *folder = getenv("TMPDIR");
    ok(MPI_Bcast(&pid, 1, MPI_INT, 0, comm));
    snprintf(name, sizeof name, "%s/ferrum-session-%d", folder ? folder : "/tmp", pid);
    ok(MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_EXCL, MPI_INFO_NULL, &file));
    for (int i = 0; i < WORDS; i++)
        words[i] = 1000000L * rank + i;
    ok(MPI_File_set_view(file, (MPI_Offset)(rank * sizeof words), MPI_LONG, MPI_LONG, "native", MPI_INFO_NULL));
    ok(MPI_File_write_at_all(file, 0, words, WORDS, MPI_LONG, &status));
    ok(MPI_Get_count(&status, MPI_LONG, &count));
    check_equal(count, WORDS);
    ok(MPI_File_sync(file));
    ok(MPI_Barrier(comm));
    ok(MPI_File_sync(file));
    ok(MPI_File_get_size(file, &length));
    check_equal(length, (long)sizeof words * size);
    memset(words, 0xff, sizeof words);
    ok(MPI_File_set_view(file, (MPI_Offset)(right * sizeof words), MPI_LONG, MPI_LONG, "native", MPI_INFO_NULL));
    ok(MPI_File_read_all(file, words, WORDS, MPI_LONG, MPI_STATUS_IGNORE));
    for (int i = 0; i < WORDS; i++)
        check_equal(words[i], 1000000L * right + i);
    ok(MPI_File_close(&file));
    check(file == MPI_FILE_NULL);
    if (rank == 0)
        ok(MPI_File_delete(name, MPI_INFO_NULL));
    ok(MPI_Barrier(comm));
    check_equal(access(name, F_OK), -1);
}

/* The halves of the communicator connect with each other by a port; a published name has it. */
static void use_port(MPI_Comm comm)
{
    MPI_Comm half, inter, both;
    MPI_Info info;
    char port[MPI_MAX_PORT_NAME] = "", service[64];
    int pid = (int)getpid(), upper = rank >= size / 2, own, count, remote = -1, place = -1, sum = -1;
    if (size == 1)
        return;
    ok(MPI_Bcast(&pid, 1, MPI_INT, 0, comm));
    snprintf(service, sizeof service, "ferrum session test %d", pid);
    ok(MPI_Info_create(&info));
    ok(MPI_Info_set(info, "timeout", "40"));
    ok(MPI_Comm_split(comm, upper, rank, &half));
    ok(MPI_Comm_rank(half, &own));
    ok(MPI_Comm_size(half, &count));
    if (rank == 0) {
        ok(MPI_Open_port(MPI_INFO_NULL, port));
        ok(MPI_Publish_name(service, MPI_INFO_NULL, port));
    }
    ok(MPI_Barrier(comm));
    if (upper) {
        if (own == 0)
            ok(MPI_Lookup_name(service, MPI_INFO_NULL, port));
        ok(MPI_Comm_connect(port, info, 0, half, &inter));
    } else {
        ok(MPI_Comm_accept(port, info, 0, half, &inter));
    }
    ok(MPI_Comm_remote_size(inter, &remote));
    check_equal(remote, size - count);
    ok(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter));
    int first = upper ? 0 : size / 2;
    check_equal(sum, remote * (2 * first + remote - 1) / 2);
    ok(MPI_Intercomm_merge(inter, upper, &both));
    ok(MPI_Comm_rank(both, &place));
    check_equal(place, rank);
    ring(both, 7);
    ok(MPI_Comm_disconnect(&both));
    ok(MPI_Comm_disconnect(&inter));
    ok(MPI_Barrier(comm));
    if (rank == 0) {
        ok(MPI_Unpublish_name(service, MPI_INFO_NULL, port));
        ok(MPI_Close_port(port));
    }
    ok(MPI_Comm_free(&half));
    ok(MPI_Info_free(&info));
}

/* What both jobs do with the communicator between them; returns the failures of the other one's processes. */
static int together(MPI_Comm inter, int high)
{
    MPI_Comm both;
    int others = -1, sum = -1, failures = -1;
    ok(MPI_Comm_remote_size(inter, &others));
    ok(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter));
    check_equal(sum, others * (others - 1) / 2);
    ok(MPI_Intercomm_merge(inter, high, &both));
    ring(both, 9);
    ok(MPI_Comm_free(&both));
    ok(MPI_Allreduce(&wrong, &failures, 1, MPI_INT, MPI_SUM, inter));
    ok(MPI_Comm_disconnect(&inter));
    return failures;
}

/* Spawned processes connect with those that spawned them in MPI_Init. Before that they have no parent, but sessions. */
static int spawned(int *argc, char ***argv, int joins)
{
    MPI_Comm parent = MPI_COMM_WORLD;
    MPI_Session session = open_session(NULL);
    MPI_Comm comm = everybody(session, "spawned");
    check_equal(size, SPAWNED);
    ring(comm, 3);
    ok(MPI_Comm_get_parent(&parent));
    check(parent == MPI_COMM_NULL);
    if (joins) {
        begin(argc, argv);
        return_errors();
        ok(MPI_Comm_get_parent(&parent));
        check(parent != MPI_COMM_NULL);
        if (parent != MPI_COMM_NULL)
            together(parent, 1);
        ring(comm, 4);
        MPI_Finalize();
    }
    ring(comm, 5);
    ok(MPI_Comm_free(&comm));
    ok(MPI_Session_finalize(&session));
    return wrong != 0;
}

static void use_spawn(MPI_Comm comm, char *program)
{
    MPI_Comm children = MPI_COMM_NULL;
    char *joins[] = {"spawned", NULL}, *stays[] = {"alone", NULL};
    int codes[SPAWNED] = {-1, -1};
    ok(MPI_Comm_spawn(program, joins, SPAWNED, MPI_INFO_NULL, 0, comm, &children, codes));
    for (int i = 0; i < SPAWNED; i++)
        check_equal(codes[i], MPI_SUCCESS);
    check_equal(together(children, 0), 0);
    /* Processes that end without MPI_Init have no connection with those that spawned them. */
    children = MPI_COMM_NULL;
    check_class(MPI_Comm_spawn(program, stays, SPAWNED, MPI_INFO_NULL, 0, comm, &children, MPI_ERRCODES_IGNORE),
                MPI_ERR_SPAWN);
    check(children == MPI_COMM_NULL);
}

static int round_of(int number, char *program)
{
    int flag = -1;
    MPI_Comm parent = MPI_COMM_WORLD;
    MPI_Session session = open_session(NULL);
    MPI_Comm comm = everybody(session, "everything");
    ring(comm, number);
    ok(MPI_Comm_get_parent(&parent));
    check(parent == MPI_COMM_NULL);
    use_window(comm);
    use_file(comm);
    use_port(comm);
    use_spawn(comm, program);
    ring(comm, number + 1);
    ok(MPI_Initialized(&flag));
    check(!flag);
    int result = number == 0 ? 0 : judge(comm);
    ok(MPI_Comm_disconnect(&comm));
    ok(MPI_Session_finalize(&session));
    check(session == MPI_SESSION_NULL);
    return result;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "spawned") == 0)
        return spawned(&argc, &argv, 1);
    if (argc > 1 && strcmp(argv[1], "alone") == 0)
        return spawned(&argc, &argv, 0);
    round_of(0, argv[0]);
    return round_of(10, argv[0]);
}
