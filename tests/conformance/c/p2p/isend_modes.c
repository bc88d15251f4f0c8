/* All non-blocking send modes deliver the data at small and large sizes. */
#include "check.h"

int main(int argc, char **argv)
{
    static const int sizes[] = {0, 1, 31, 33, 4000, 70000, 1000000};
    enum { LARGEST = 1000000 };
    static unsigned char data[LARGEST];
    begin(&argc, &argv);
    int room = 4 * (LARGEST + MPI_BSEND_OVERHEAD);
    void *buffer = malloc((size_t)room);
    ok(MPI_Buffer_attach(buffer, room));
    for (int mode = 0; mode < 4; mode++)
        for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            int length = sizes[s], seed = mode * 10 + (int)s;
            MPI_Request request;
            MPI_Status status;
            if (rank == 1) {
                memset(data, 0, (size_t)length);
                ok(MPI_Irecv(data, length, MPI_BYTE, 0, seed, MPI_COMM_WORLD, &request));
            }
            MPI_Barrier(MPI_COMM_WORLD);
            if (rank == 0) {
                fill(data, (size_t)length, seed);
                int (*const send[])(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = {
                    MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};
                ok(send[mode](data, length, MPI_BYTE, 1, seed, MPI_COMM_WORLD, &request));
                ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
                check(request == MPI_REQUEST_NULL);
            } else if (rank == 1) {
                int count = -1;
                ok(MPI_Wait(&request, &status));
                ok(MPI_Get_count(&status, MPI_BYTE, &count));
                check_equal(count, length);
                check(filled(data, (size_t)length, seed));
            }
        }
    ok(MPI_Buffer_detach(&buffer, &room));
    free(buffer);
    return finish();
}
