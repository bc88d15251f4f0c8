/* Error handlers and exceptions: ERRORS_THROW_EXCEPTIONS on communicators, windows and files throws after the function
 * of C has returned, ERRORS_RETURN does not; handlers of the program; exceptions in callbacks; errors of C calls. */
#include "check.h"

static int calls, code_seen;
static MPI_Comm comm_seen;
static MPI_Win win_seen;
static MPI_File file_seen;
static bool inter_seen, throw_now;

static void on_comm(MPI::Comm &comm, int *code, ...)
{
    calls++;
    comm_seen = comm;
    code_seen = *code;
    inter_seen = dynamic_cast<MPI::Intercomm *>(&comm) != 0;
    if (throw_now)
        throw MPI::Exception(*code);
}

static void on_win(MPI::Win &win, int *code, ...)
{
    calls++;
    win_seen = win;
    code_seen = *code;
}

static void on_file(MPI::File &file, int *code, ...)
{
    calls++;
    file_seen = file;
    code_seen = *code;
}

/* Objects whose destructors count: an exception unwinds the program's frames. */
static int alive;

struct Counted {
    Counted() { alive++; }
    ~Counted() { alive--; }
};

static void send_wrong(const MPI::Comm &comm)
{
    Counted one;
    int value = 0;
    comm.Send(&value, 1, MPI::INT, 1000000, 0);
}

static void communicators()
{
    MPI::Intracomm comm = MPI::COMM_WORLD.Dup();
    int value = 0, pair[2] = {1, 2};
    check(comm.Get_errhandler() == MPI::ERRORS_ARE_FATAL);
    comm.Set_errhandler(MPI::ERRORS_RETURN);
    check(comm.Get_errhandler() == MPI::ERRORS_RETURN && comm.Get_errhandler() != MPI::ERRORS_THROW_EXCEPTIONS);
    silent(send_wrong(comm));
    comm.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    check(comm.Get_errhandler() == MPI::ERRORS_THROW_EXCEPTIONS && comm.Get_errhandler() != MPI::ERRORS_RETURN);
    for (int i = 0; i < 100; i++)
        throws(send_wrong(comm), MPI::ERR_RANK);
    check(alive == 0);
    throws(comm.Send(&value, -1, MPI::INT, 0, 0), MPI::ERR_COUNT);
    throws(comm.Send(&value, 1, MPI::DATATYPE_NULL, 0, 0), MPI::ERR_TYPE);
    throws(comm.Bcast(&value, 1, MPI::INT, -5), MPI::ERR_ROOT);
    throws(comm.Allreduce(&value, pair, 1, MPI::INT, MPI::OP_NULL), MPI::ERR_OP);
    throws(comm.Call_errhandler(MPI::ERR_IO), MPI::ERR_IO);
    /* A request that fails. */
    MPI::Status status;
    MPI::Request request = comm.Irecv(&value, 1, MPI::INT, comm.Get_rank(), 3);
    comm.Send(pair, 2, MPI::INT, comm.Get_rank(), 3);
    throws(request.Wait(status), MPI::ERR_TRUNCATE);
    check(request == MPI::REQUEST_NULL);
    MPI::Status statuses[2];
    MPI::Request requests[2];
    requests[0] = comm.Irecv(&value, 1, MPI::INT, comm.Get_rank(), 3);
    requests[1] = MPI::REQUEST_NULL;
    comm.Send(pair, 2, MPI::INT, comm.Get_rank(), 3);
    throws(MPI::Request::Waitall(2, requests, statuses), MPI::ERR_IN_STATUS);
    check(requests[0] == MPI::REQUEST_NULL && MPI::Get_error_class(statuses[0].Get_error()) == MPI::ERR_TRUNCATE);
    /* A call of C returns its code, and leaves nothing for the next call. */
    check(MPI_Send(&value, 1, MPI_INT, 1000000, 0, comm) != MPI_SUCCESS);
    silent(comm.Barrier());
    MPI::Intracomm other = MPI::COMM_SELF.Dup();
    other.Set_errhandler(MPI::ERRORS_RETURN);
    check(MPI_Send(&value, 1, MPI_INT, 1000000, 0, comm) != MPI_SUCCESS);
    silent(send_wrong(other));
    /* A duplicate inherits the handler. */
    MPI::Intracomm child = comm.Dup();
    check(child.Get_errhandler() == MPI::ERRORS_THROW_EXCEPTIONS);
    throws(send_wrong(child), MPI::ERR_RANK);
    child.Free();
    check(child == MPI::COMM_NULL);
    other.Free();
    comm.Free();
    /* Calls without an object: their errors go to MPI::COMM_SELF. */
    MPI::COMM_SELF.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    throws(MPI::Datatype(MPI::DATATYPE_NULL).Get_size(), MPI::ERR_TYPE);
    throws(MPI::Add_error_code(1 << 29), MPI::ERR_ARG);
    throws(MPI::Intracomm(MPI::COMM_NULL).Get_rank(), MPI::ERR_COMM);
    try {
        MPI::Group(MPI::GROUP_NULL).Get_size();
        check(false);
    } catch (const std::exception &exception) {
        check(strlen(exception.what()) > 0);
    }
    MPI::COMM_SELF.Set_errhandler(MPI::ERRORS_ARE_FATAL);
}

static void handlers_of_the_program()
{
    MPI::Intracomm comm = MPI::COMM_WORLD.Dup();
    MPI::Errhandler handler = MPI::Comm::Create_errhandler(on_comm), found;
    MPI::COMM_SELF.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    comm.Set_errhandler(handler);
    found = comm.Get_errhandler();
    check(found == handler);
    found.Free();
    check(found == MPI::ERRHANDLER_NULL);
    silent(send_wrong(comm));
    check(calls == 1 && comm_seen == comm && MPI::Get_error_class(code_seen) == MPI::ERR_RANK && !inter_seen);
    silent(comm.Call_errhandler(MPI::ERR_IO));
    check(calls == 2 && code_seen == MPI::ERR_IO);
    /* It stays in force after its handle is freed. */
    handler.Free();
    check(handler == MPI::ERRHANDLER_NULL);
    silent(send_wrong(comm));
    check(calls == 3);
    throw_now = true;
    throws(send_wrong(comm), MPI::ERR_RANK);
    check(calls == 4 && alive == 0);
    throw_now = false;
    silent(send_wrong(comm));
    if (MPI::COMM_WORLD.Get_size() == 2) {
        MPI::Errhandler again = MPI::Comm::Create_errhandler(on_comm);
        MPI::Intercomm between = MPI::COMM_SELF.Create_intercomm(0, comm, 1 - comm.Get_rank(), 5);
        between.Set_errhandler(again);
        again.Free();
        silent(send_wrong(between));
        check(inter_seen && comm_seen == between && between.Is_inter() && between.Get_remote_size() == 1);
        between.Free();
    }
    comm.Free();
    MPI::COMM_SELF.Set_errhandler(MPI::ERRORS_ARE_FATAL);
}

static void windows()
{
    int memory[2] = {0, 0}, before = calls;
    MPI::Win win = MPI::Win::Create(memory, sizeof memory, sizeof(int), MPI::INFO_NULL, MPI::COMM_WORLD);
    check(win.Get_errhandler() == MPI::ERRORS_ARE_FATAL);
    win.Set_errhandler(MPI::ERRORS_RETURN);
    silent(win.Fence(-1));
    win.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    check(win.Get_errhandler() == MPI::ERRORS_THROW_EXCEPTIONS);
    throws(win.Fence(-1), MPI::ERR_ASSERT);
    throws(win.Put(memory, 1, MPI::INT, 0, 0, 1, MPI::INT), MPI::ERR_RMA_SYNC);
    throws(win.Call_errhandler(MPI::ERR_TAG), MPI::ERR_TAG);
    MPI::Errhandler handler = MPI::Win::Create_errhandler(on_win);
    win.Set_errhandler(handler);
    silent(win.Fence(-1));
    check(calls == before + 1 && win_seen == win && MPI::Get_error_class(code_seen) == MPI::ERR_ASSERT);
    handler.Free();
    win.Free();
    check(win == MPI::WIN_NULL);
}

static void files()
{
    int before = calls, value = 0;
    char name[64];
    snprintf(name, sizeof name, "cxx-errors-%d-%ld", MPI::COMM_WORLD.Get_rank(), static_cast<long>(MPI::Wtime() * 1e6));
    silent(MPI::File::Open(MPI::COMM_SELF, "/no/such/file", MPI::MODE_RDONLY, MPI::INFO_NULL));
    MPI::File none = MPI::FILE_NULL;
    check(none.Get_errhandler() == MPI::ERRORS_RETURN);
    none.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    throws(MPI::File::Open(MPI::COMM_SELF, "/no/such/file", MPI::MODE_RDONLY, MPI::INFO_NULL), MPI::ERR_NO_SUCH_FILE);
    throws(MPI::File::Delete("/no/such/file", MPI::INFO_NULL), MPI::ERR_NO_SUCH_FILE);
    MPI::File file = MPI::File::Open(MPI::COMM_SELF, name,
                                     MPI::MODE_CREATE | MPI::MODE_WRONLY | MPI::MODE_DELETE_ON_CLOSE, MPI::INFO_NULL);
    check(file.Get_errhandler() == MPI::ERRORS_THROW_EXCEPTIONS);
    throws(file.Read(&value, 1, MPI::INT), MPI::ERR_ACCESS);
    throws(file.Call_errhandler(MPI::ERR_IO), MPI::ERR_IO);
    MPI::Errhandler handler = MPI::File::Create_errhandler(on_file);
    file.Set_errhandler(handler);
    silent(file.Read(&value, 1, MPI::INT));
    check(calls == before + 1 && file_seen == file && MPI::Get_error_class(code_seen) == MPI::ERR_ACCESS);
    file.Set_errhandler(MPI::ERRORS_RETURN);
    silent(file.Read(&value, 1, MPI::INT));
    handler.Free();
    none.Set_errhandler(MPI::ERRORS_RETURN);
    file.Close();
    check(file == MPI::FILE_NULL);
}

static int delete_throws(MPI::Comm &, int, void *, void *)
{
    throw MPI::Exception(MPI::ERR_INTERN);
}

static void add_throws(const void *, void *, int, const MPI::Datatype &)
{
    throw MPI::Exception(MPI::ERR_INTERN);
}

/* An exception of a callback leaves the function that has caused the callback, not the library. */
static void callbacks()
{
    MPI::Intracomm comm = MPI::COMM_SELF.Dup();
    int keyval = MPI::Comm::Create_keyval(MPI_COMM_NULL_COPY_FN, delete_throws, 0), one = 1, sum = 1;
    comm.Set_attr(keyval, &one);
    throws(comm.Delete_attr(keyval), MPI::ERR_INTERN);
    silent(comm.Delete_attr(keyval));
    MPI::Comm::Free_keyval(keyval);
    MPI::Op op;
    op.Init(add_throws, true);
    throws(op.Reduce_local(&one, &sum, 1, MPI::INT), MPI::ERR_INTERN);
    op.Free();
    comm.Free();
}

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    communicators();
    handlers_of_the_program();
    windows();
    files();
    callbacks();
    check(alive == 0);
    return finish();
}
