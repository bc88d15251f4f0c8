/* Error handlers get the handle that the program has: of predefined and made communicators, of files, windows and
 * sessions; when a call fails, when a request fails, and when the program calls the handler. */
#include "file/file.h"

static MPI_Comm comm_seen;
static MPI_File file_seen;
static MPI_Win win_seen;
static MPI_Session session_seen;
static int calls, code_seen;

static void on_comm(MPI_Comm *comm, int *code, ...)
{
    calls++;
    comm_seen = *comm;
    code_seen = *code;
}

static void on_file(MPI_File *file, int *code, ...)
{
    calls++;
    file_seen = *file;
    code_seen = *code;
}

static void on_win(MPI_Win *win, int *code, ...)
{
    calls++;
    win_seen = *win;
    code_seen = *code;
}

static void on_session(MPI_Session *session, int *code, ...)
{
    calls++;
    session_seen = *session;
    code_seen = *code;
}

/* The call fails, and its handler gets this handle, once, with the code that the call returns. */
#define gives(call, seen, handle, null)                                                                                \
    do {                                                                                                               \
        int before = calls, code;                                                                                      \
        seen = null;                                                                                                   \
        code = (call);                                                                                                 \
        check(code != MPI_SUCCESS);                                                                                    \
        check_equal(calls, before + 1);                                                                                \
        check(seen == handle);                                                                                         \
        check_equal(code_seen, code);                                                                                  \
    } while (0)

/* The program calls the handler: the call succeeds. */
#define called(call, seen, handle, null) gives((call) == MPI_SUCCESS ? MPI_ERR_IO : MPI_SUCCESS, seen, handle, null)

#define comm_gives(call, comm) gives(call, comm_seen, comm, (MPI_Comm)0)

static void communicator(MPI_Comm comm, MPI_Errhandler handler)
{
    int value = 1, pair[2] = {1, 2}, ranks, own, inter, flag, index, count;
    MPI_Request request, list[2];
    MPI_Status status, statuses[2];
    ok(MPI_Comm_set_errhandler(comm, handler));
    ok(MPI_Comm_test_inter(comm, &inter));
    ok(inter ? MPI_Comm_remote_size(comm, &ranks) : MPI_Comm_size(comm, &ranks));
    comm_gives(MPI_Send(&value, 1, MPI_INT, ranks, 0, comm), comm);
    comm_gives(MPI_Recv(&value, -1, MPI_INT, 0, 0, comm, &status), comm);
    comm_gives(MPI_Isend(&value, 1, MPI_DATATYPE_NULL, 0, 0, comm, &request), comm);
    comm_gives(MPI_Comm_set_name(comm, NULL), comm);
    called(MPI_Comm_call_errhandler(comm, MPI_ERR_IO), comm_seen, comm, (MPI_Comm)0);
    if (inter)
        return;
    ok(MPI_Comm_rank(comm, &own));
    comm_gives(MPI_Bcast(&value, 1, MPI_INT, ranks, comm), comm);
    comm_gives(MPI_Allreduce(&value, pair, 1, MPI_INT, MPI_OP_NULL, comm), comm);
    comm_gives(MPI_Comm_split(comm, -7, 0, &(MPI_Comm){MPI_COMM_NULL}), comm);
    /* A request that fails: the message does not fit. */
    for (int way = 0; way < 4; way++) {
        ok(MPI_Irecv(&value, 1, MPI_INT, own, 5, comm, &request));
        ok(MPI_Send(pair, 2, MPI_INT, own, 5, comm));
        if (way == 0)
            comm_gives(MPI_Wait(&request, &status), comm);
        else if (way == 1)
            comm_gives(MPI_Test(&request, &flag, &status), comm);
        else if (way == 2)
            comm_gives(MPI_Waitany(1, &request, &index, &status), comm);
        else
            comm_gives(MPI_Testany(1, &request, &index, &flag, &status), comm);
        check(request == MPI_REQUEST_NULL);
    }
    for (int way = 0; way < 2; way++) {
        list[0] = MPI_REQUEST_NULL;
        ok(MPI_Irecv(&value, 1, MPI_INT, own, 5, comm, &list[1]));
        ok(MPI_Send(pair, 2, MPI_INT, own, 5, comm));
        comm_seen = (MPI_Comm)0;
        if (way == 0)
            check_class(MPI_Waitall(2, list, statuses), MPI_ERR_IN_STATUS);
        else
            check_class(MPI_Waitsome(2, list, &count, pair, statuses), MPI_ERR_IN_STATUS);
        check(comm_seen == comm);
        check_equal(class_of(code_seen), MPI_ERR_TRUNCATE);
    }
    ok(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
}

static void communicators(void)
{
    MPI_Errhandler handler;
    MPI_Comm copy, half, between;
    ok(MPI_Comm_create_errhandler(on_comm, &handler));
    communicator(MPI_COMM_WORLD, handler);
    communicator(MPI_COMM_SELF, handler);
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    communicator(copy, handler);
    ok(MPI_Comm_split(copy, rank % 2, rank, &half));
    communicator(half, handler);
    if (size > 1) {
        ok(MPI_Intercomm_create(half, 0, copy, (rank + 1) % 2, 3, &between));
        communicator(between, handler);
        ok(MPI_Comm_free(&between));
    }
    /* Errors of no communicator go to the handler of MPI_COMM_SELF. */
    ok(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
    comm_gives(MPI_Type_size(MPI_DATATYPE_NULL, &(int){0}), MPI_COMM_SELF);
    comm_gives(MPI_Comm_rank(MPI_COMM_NULL, &(int){0}), MPI_COMM_SELF);
    comm_gives(MPI_Group_free(&(MPI_Group){MPI_GROUP_NULL}), MPI_COMM_SELF);
    ok(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    ok(MPI_Errhandler_free(&handler));
    ok(MPI_Comm_free(&half));
    ok(MPI_Comm_free(&copy));
}

static void files(void)
{
    char name[NAME];
    int value = 0;
    MPI_Errhandler handler;
    MPI_File file[2];
    MPI_Request request;
    name_of(name, "callback");
    name[strlen(name) - 1] = (char)('a' + rank);
    ok(MPI_File_create_errhandler(on_file, &handler));
    for (int i = 0; i < 2; i++)
        ok(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file[i]));
    for (int i = 0; i < 2; i++) {
        ok(MPI_File_set_errhandler(file[i], handler));
        gives(MPI_File_read(file[i], &value, 1, MPI_INT, MPI_STATUS_IGNORE), file_seen, file[i], MPI_FILE_NULL);
        gives(MPI_File_iread_at(file[i], 0, &value, 1, MPI_INT, &request), file_seen, file[i], MPI_FILE_NULL);
        gives(MPI_File_seek(file[i], -1, MPI_SEEK_SET), file_seen, file[i], MPI_FILE_NULL);
        called(MPI_File_call_errhandler(file[i], MPI_ERR_IO), file_seen, file[i], MPI_FILE_NULL);
    }
    ok(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
    gives(MPI_File_delete("", MPI_INFO_NULL), file_seen, MPI_FILE_NULL, file[0]);
    gives(MPI_File_open(MPI_COMM_SELF, "", MPI_MODE_RDWR, MPI_INFO_NULL, &(MPI_File){0}), file_seen, MPI_FILE_NULL,
          file[0]);
    called(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO), file_seen, MPI_FILE_NULL, file[0]);
    ok(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    ok(MPI_Errhandler_free(&handler));
    for (int i = 0; i < 2; i++)
        ok(MPI_File_close(&file[i]));
    unlink(name);
}

static void windows(void)
{
    int memory[2];
    MPI_Errhandler handler;
    MPI_Win win[2];
    ok(MPI_Win_create_errhandler(on_win, &handler));
    for (int i = 0; i < 2; i++)
        ok(MPI_Win_create(&memory[i], sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win[i]));
    for (int i = 0; i < 2; i++) {
        ok(MPI_Win_set_errhandler(win[i], handler));
        gives(MPI_Put(memory, 1, MPI_INT, 0, 0, 1, MPI_INT, win[i]), win_seen, win[i], MPI_WIN_NULL);
        gives(MPI_Win_fence(-1, win[i]), win_seen, win[i], MPI_WIN_NULL);
        gives(MPI_Win_set_name(win[i], NULL), win_seen, win[i], MPI_WIN_NULL);
        called(MPI_Win_call_errhandler(win[i], MPI_ERR_IO), win_seen, win[i], MPI_WIN_NULL);
    }
    ok(MPI_Errhandler_free(&handler));
    for (int i = 0; i < 2; i++)
        ok(MPI_Win_free(&win[i]));
}

static void sessions(void)
{
    MPI_Errhandler handler;
    MPI_Session session[2];
    MPI_Info info;
    ok(MPI_Session_create_errhandler(on_session, &handler));
    for (int i = 0; i < 2; i++)
        ok(MPI_Session_init(MPI_INFO_NULL, handler, &session[i]));
    for (int i = 0; i < 2; i++) {
        gives(MPI_Session_get_pset_info(session[i], "mpi://NOBODY", &info), session_seen, session[i], MPI_SESSION_NULL);
        gives(MPI_Session_get_num_psets(session[i], MPI_INFO_NULL, NULL), session_seen, session[i], MPI_SESSION_NULL);
        called(MPI_Session_call_errhandler(session[i], MPI_ERR_IO), session_seen, session[i], MPI_SESSION_NULL);
    }
    ok(MPI_Errhandler_free(&handler));
    for (int i = 0; i < 2; i++)
        ok(MPI_Session_finalize(&session[i]));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return_errors();
    communicators();
    files();
    windows();
    sessions();
    return finish();
}
