/* A process may send, free its communicator and finalise its session: its messages are received although it may end
 * first. */
#include <time.h>

#include "session/session.h"

enum { LENGTH = 8000 };

int main(void)
{
    static unsigned char data[LENGTH];
    MPI_Session session = open_session(NULL);
    MPI_Comm comm = everybody(session, "all");
    int own = -1, count = -1;
    ok(MPI_Comm_rank(comm, &own));
    ok(MPI_Comm_size(comm, &count));
    if (own == 0) {
        fill(data, LENGTH, 3);
        ok(MPI_Send(data, LENGTH, MPI_BYTE, 1, 1, comm));
    } else if (own == 1) {
        struct timespec nap = {0, 100 * 1000 * 1000};
        nanosleep(&nap, NULL);
        ok(MPI_Recv(data, LENGTH, MPI_BYTE, 0, 1, comm, MPI_STATUS_IGNORE));
        check(filled(data, LENGTH, 3));
    }
    ok(MPI_Comm_free(&comm));
    ok(MPI_Session_finalize(&session));
    check(session == MPI_SESSION_NULL);
    if (own == 1 && wrong == 0)
        printf("No Errors\n");
    return wrong != 0;
}
