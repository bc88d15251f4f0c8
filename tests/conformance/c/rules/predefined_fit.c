/* Each predefined error handler can be set on every kind of object, is returned by the get call, and can be called
 * where it returns. */
#include "file/file.h"

static const MPI_Errhandler handlers[] = {MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT, MPI_ERRORS_RETURN};

int main(int argc, char **argv)
{
    char name[NAME];
    MPI_Errhandler got;
    MPI_Comm comm;
    MPI_Win win;
    MPI_File file;
    MPI_Session session;
    void *base;
    begin(&argc, &argv);
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    ok(MPI_Win_allocate(64, 1, MPI_INFO_NULL, comm, &base, &win));
    ok(MPI_File_open(comm, name_of(name, "predefined-fit"), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &file));
    ok(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    for (int i = 0; i < 3; i++) {
        ok(MPI_Comm_set_errhandler(comm, handlers[i]));
        ok(MPI_Comm_get_errhandler(comm, &got));
        check(got == handlers[i]);
        ok(MPI_Win_set_errhandler(win, handlers[i]));
        ok(MPI_Win_get_errhandler(win, &got));
        check(got == handlers[i]);
        ok(MPI_File_set_errhandler(file, handlers[i]));
        ok(MPI_File_get_errhandler(file, &got));
        check(got == handlers[i]);
        ok(MPI_Session_set_errhandler(session, handlers[i]));
        ok(MPI_Session_get_errhandler(session, &got));
        check(got == handlers[i]);
    }
    ok(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER));
    ok(MPI_Win_call_errhandler(win, MPI_ERR_OTHER));
    ok(MPI_File_call_errhandler(file, MPI_ERR_OTHER));
    ok(MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
    ok(MPI_Session_finalize(&session));
    ok(MPI_File_close(&file));
    ok(MPI_Win_free(&win));
    ok(MPI_Comm_free(&comm));
    return finish();
}
