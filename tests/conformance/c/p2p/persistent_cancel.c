/* An active persistent operation is cancelled, and the request is started again: a receive; a send that its receiver
 * has not matched, of which only the last of several messages is cancelled. A freed request under way completes,
 * also on a freed communicator. */
#include "check.h"

enum { LARGE = 200000 };

int main(int argc, char **argv)
{
    static unsigned char large[LARGE];
    int in = 0, out = 1, cancelled, flag;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Status status;
    begin(&argc, &argv);
    /* A receive. */
    ok(MPI_Recv_init(&in, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &request));
    for (int round = 0; round < 3; round++) {
        ok(MPI_Start(&request));
        ok(MPI_Cancel(&request));
        ok(MPI_Wait(&request, &status));
        MPI_Test_cancelled(&status, &cancelled);
        check(cancelled);
        ok(MPI_Start(&request));
        MPI_Send(&round, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
        ok(MPI_Wait(&request, &status));
        MPI_Test_cancelled(&status, &cancelled);
        check(!cancelled);
        check_equal(in, round);
    }
    ok(MPI_Request_free(&request));
    /* The last of three messages of one request. */
    if (rank == 0) {
        ok(MPI_Send_init(&out, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &request));
        for (out = 1; out <= 3; out++) {
            ok(MPI_Start(&request));
            if (out < 3)
                ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        ok(MPI_Cancel(&request));
        ok(MPI_Wait(&request, &status));
        MPI_Test_cancelled(&status, &cancelled);
        check(cancelled);
        MPI_Send(NULL, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
        /* A message that was received is not cancelled. */
        MPI_Recv(NULL, 0, MPI_BYTE, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        out = 9;
        ok(MPI_Start(&request));
        MPI_Recv(NULL, 0, MPI_BYTE, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        ok(MPI_Cancel(&request));
        ok(MPI_Wait(&request, &status));
        MPI_Test_cancelled(&status, &cancelled);
        check(!cancelled);
        ok(MPI_Request_free(&request));
    } else if (rank == 1) {
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int expected = 1; expected <= 2; expected++) {
            MPI_Recv(&in, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            check_equal(in, expected);
        }
        MPI_Iprobe(0, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        check(!flag);
        MPI_Send(NULL, 0, MPI_BYTE, 0, 4, MPI_COMM_WORLD);
        MPI_Recv(&in, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_equal(in, 9);
        MPI_Send(NULL, 0, MPI_BYTE, 0, 4, MPI_COMM_WORLD);
    }
    /* Freed while it is under way, and of a communicator that is freed. */
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (rank == 0) {
        MPI_Request later;
        fill(large, LARGE, 5);
        ok(MPI_Send_init(large, LARGE, MPI_BYTE, 1, 6, comm, &request));
        ok(MPI_Send_init(&out, 1, MPI_INT, 1, 7, comm, &later));
        ok(MPI_Comm_free(&comm));
        ok(MPI_Start(&request));
        ok(MPI_Request_free(&request));
        check(request == MPI_REQUEST_NULL);
        ok(MPI_Start(&later));
        ok(MPI_Wait(&later, MPI_STATUS_IGNORE));
        ok(MPI_Request_free(&later));
        MPI_Recv(NULL, 0, MPI_BYTE, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        ok(MPI_Recv_init(large, LARGE, MPI_BYTE, 0, 6, comm, &request));
        ok(MPI_Recv(&in, 1, MPI_INT, 0, 7, comm, MPI_STATUS_IGNORE));
        ok(MPI_Comm_free(&comm));
        ok(MPI_Start(&request));
        ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check(filled(large, LARGE, 5));
        ok(MPI_Request_free(&request));
        MPI_Send(NULL, 0, MPI_BYTE, 0, 8, MPI_COMM_WORLD);
    } else {
        MPI_Comm_free(&comm);
    }
    return finish();
}
