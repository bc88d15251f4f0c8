/* Messages of one sender with one tag arrive in the order sent, whatever their sizes (eager and large mixed). */
#include "check.h"

enum { MESSAGES = 60 };

static int length_of(int i)
{
    static const int lengths[] = {1, 40, 3000, 200000, 7, 100000, 16, 0};
    return lengths[i % 8] * 4 + 4;
}

int main(int argc, char **argv)
{
    static unsigned char *data[MESSAGES];
    MPI_Request requests[MESSAGES];
    begin(&argc, &argv);
    for (int i = 0; i < MESSAGES; i++)
        data[i] = calloc(1, 900000);
    for (int pass = 0; pass < 2; pass++) {
        /* In the second pass the receives are posted first. */
        if (rank == 0) {
            if (pass == 1)
                MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < MESSAGES; i++) {
                fill(data[i], (size_t)length_of(i), i);
                ok(MPI_Isend(data[i], length_of(i), MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[i]));
            }
            ok(MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE));
        } else if (rank == 1) {
            MPI_Status statuses[MESSAGES];
            for (int i = 0; i < MESSAGES; i++) {
                memset(data[i], 0, 900000);
                ok(MPI_Irecv(data[i], 900000, MPI_BYTE, i % 3 ? 0 : MPI_ANY_SOURCE, i % 2 ? 1 : MPI_ANY_TAG,
                             MPI_COMM_WORLD, &requests[i]));
            }
            if (pass == 1)
                MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
            ok(MPI_Waitall(MESSAGES, requests, statuses));
            for (int i = 0; i < MESSAGES; i++) {
                int count = -1;
                MPI_Get_count(&statuses[i], MPI_BYTE, &count);
                check_equal(count, length_of(i));
                check(filled(data[i], (size_t)length_of(i), i));
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return finish();
}
