/* A program of two files, which may be compiled by two versions of C++: a handler that one sets throws in the other. */
#include "check.h"

#ifdef SECOND
void send_wrong(const MPI::Comm &comm)
{
    int value = 0;
    comm.Send(&value, 1, MPI::INT, 1000000, 0);
}

void set_handler(MPI::Comm &comm)
{
    comm.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
}
#else
void send_wrong(const MPI::Comm &comm);
void set_handler(MPI::Comm &comm);

int main()
{
    MPI::Init();
    MPI::Intracomm comm = MPI::COMM_WORLD.Dup();
    set_handler(comm);
    check(comm.Get_errhandler() == MPI::ERRORS_THROW_EXCEPTIONS);
    throws(comm.Send(&wrong, -1, MPI::INT, 0, 0), MPI::ERR_COUNT);
    throws(send_wrong(comm), MPI::ERR_RANK);
    comm.Set_errhandler(MPI::ERRORS_RETURN);
    silent(send_wrong(comm));
    comm.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    throws(send_wrong(comm), MPI::ERR_RANK);
    comm.Free();
    return finish();
}
#endif
