/* Messages of 0 bytes to 64 MB arrive whole, one way and both ways at once, from odd addresses too. */
#include "check.h"

int main(int argc, char **argv)
{
    static const size_t lengths[] = {0, 1, 4095, 65536, 65537, 1000003, 8u << 20, 64u << 20};
    begin(&argc, &argv);
    size_t room = (64u << 20) + 16;
    unsigned char *out = malloc(room), *in = malloc(room);
    int other = 1 - rank;
    for (unsigned s = 0; s < sizeof lengths / sizeof *lengths && rank < 2; s++) {
        size_t length = lengths[s], shift = s % 3;
        int count = -1;
        MPI_Request requests[2];
        MPI_Status status;
        fill(out + shift, length, rank + (int)s);
        memset(in, 0x5a, length + 16);
        if (rank == 0) {
            ok(MPI_Send(out + shift, (int)length, MPI_BYTE, 1, 1, MPI_COMM_WORLD));
        } else {
            ok(MPI_Recv(in + 1, (int)length + 4, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &status));
            ok(MPI_Get_count(&status, MPI_BYTE, &count));
            check_equal(count, (int)length);
            check(filled(in + 1, length, (int)s));
            check(in[0] == 0x5a && in[length + 1] == 0x5a);
        }
        memset(in, 0x5a, length + 16);
        ok(MPI_Irecv(in + 3, (int)length, MPI_BYTE, other, 2, MPI_COMM_WORLD, &requests[0]));
        ok(MPI_Isend(out + shift, (int)length, MPI_BYTE, other, 2, MPI_COMM_WORLD, &requests[1]));
        ok(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        check(filled(in + 3, length, other + (int)s));
        check(in[2] == 0x5a && in[length + 3] == 0x5a);
    }
    free(out);
    free(in);
    return finish();
}
