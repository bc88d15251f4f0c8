/* A rank can send to itself: small and large, receive before send and after, and probe. */
#include "check.h"

enum { LARGEST = 2000000 };

int main(int argc, char **argv)
{
    static const int lengths[] = {0, 8, 2000, LARGEST};
    static unsigned char out[LARGEST], in[LARGEST];
    begin(&argc, &argv);
    for (int s = 0; s < 4; s++)
        for (int first = 0; first < 2; first++) {
            int length = lengths[s], count = -1;
            MPI_Request requests[2];
            MPI_Status status;
            fill(out, (size_t)length, s);
            memset(in, 0, sizeof in);
            if (first) {
                ok(MPI_Irecv(in, LARGEST, MPI_BYTE, 0, 4, MPI_COMM_SELF, &requests[0]));
                ok(MPI_Isend(out, length, MPI_BYTE, 0, 4, MPI_COMM_SELF, &requests[1]));
            } else {
                ok(MPI_Isend(out, length, MPI_BYTE, 0, 4, MPI_COMM_SELF, &requests[1]));
                ok(MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_SELF, &status));
                MPI_Get_count(&status, MPI_BYTE, &count);
                check_equal(count, length);
                ok(MPI_Irecv(in, LARGEST, MPI_BYTE, MPI_ANY_SOURCE, 4, MPI_COMM_SELF, &requests[0]));
            }
            ok(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
            check(filled(in, (size_t)length, s));
        }
    return finish();
}
