/* MPI_Isendrecv and MPI_Isendrecv_replace send and receive under one request, of any length, to oneself and around a
 * ring, with MPI_PROC_NULL, in a list with others; the status is the receive's, a truncated message is the request's
 * error, a cancel is refused, and a freed request does its work. */
#include "check.h"

enum { SIZES = 3, LARGEST = 300000 };

static const int sizes[SIZES] = {8, 9000, LARGEST};
static unsigned char out[LARGEST], in[LARGEST], both[LARGEST];

int main(int argc, char **argv)
{
    MPI_Request request, list[3];
    MPI_Status status, statuses[3];
    int next, previous, count, flag, word = 1, got = 0;
    begin(&argc, &argv);
    return_errors();
    next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (int n = 0; n < SIZES; n++) {
        int bytes = sizes[n];
        for (int way = 0; way < 3; way++) {
            fill(out, (size_t)bytes, rank + n);
            memset(in, 0, sizeof in);
            ok(MPI_Isendrecv(out, bytes, MPI_BYTE, next, n, in, LARGEST, MPI_BYTE, previous, n, MPI_COMM_WORLD,
                &request));
            if (way == 0) {
                ok(MPI_Wait(&request, &status));
            } else if (way == 1) {
                do
                    ok(MPI_Test(&request, &flag, &status));
                while (!flag);
            } else {
                list[0] = MPI_REQUEST_NULL, list[1] = request;
                MPI_Irecv(&got, 1, MPI_INT, rank, 77, MPI_COMM_WORLD, &list[2]);
                MPI_Send(&word, 1, MPI_INT, rank, 77, MPI_COMM_WORLD);
                ok(MPI_Waitall(3, list, statuses));
                status = statuses[1], request = list[1];
                check_equal(got, 1);
            }
            check(request == MPI_REQUEST_NULL);
            MPI_Get_count(&status, MPI_BYTE, &count);
            check_equal(count, bytes);
            check_equal(status.MPI_SOURCE, previous);
            check_equal(status.MPI_TAG, n);
            check(filled(in, (size_t)bytes, previous + n));
            fill(both, (size_t)bytes, rank + n);
            if (way == 0)
                ok(MPI_Isendrecv_replace(both, bytes, MPI_BYTE, next, n, previous, n, MPI_COMM_WORLD, &request));
            else
                ok(MPI_Isendrecv_replace_c(both, bytes, MPI_BYTE, next, n, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                                           &request));
            ok(MPI_Wait(&request, &status));
            check_equal(status.MPI_SOURCE, previous);
            check(filled(both, (size_t)bytes, previous + n));
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    /* To and from no process. */
    ok(MPI_Isendrecv(out, 4, MPI_BYTE, MPI_PROC_NULL, 0, in, 4, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request));
    ok(MPI_Wait(&request, &status));
    check_equal(status.MPI_SOURCE, MPI_PROC_NULL);
    ok(MPI_Isendrecv_replace(both, 4, MPI_BYTE, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request));
    ok(MPI_Wait(&request, &status));
    check_equal(status.MPI_SOURCE, MPI_PROC_NULL);
    /* Truncated, short and long. */
    for (int n = 0; n < SIZES; n++) {
        ok(MPI_Isendrecv(out, sizes[n], MPI_BYTE, 0, 1, in, 4, MPI_BYTE, 0, 1, MPI_COMM_SELF, &request));
        check_class(MPI_Wait(&request, &status), MPI_ERR_TRUNCATE);
        check(request == MPI_REQUEST_NULL);
        check_equal(status.MPI_TAG, 1);
    }
    /* Not cancelled, at either stage of its send. */
    for (int n = 0; n < SIZES; n++) {
        ok(MPI_Isendrecv(out, sizes[n], MPI_BYTE, 0, 1, in, LARGEST, MPI_BYTE, 0, 2, MPI_COMM_SELF, &request));
        check_class(MPI_Cancel(&request), MPI_ERR_REQUEST);
        MPI_Sendrecv(&word, 1, MPI_INT, 0, 2, both, LARGEST, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    /* Freed. */
    memset(in, 0, sizeof in);
    ok(MPI_Isendrecv(out, LARGEST, MPI_BYTE, next, 5, in, LARGEST, MPI_BYTE, previous, 5, MPI_COMM_WORLD, &request));
    ok(MPI_Request_free(&request));
    check(request == MPI_REQUEST_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    check_class(MPI_Isendrecv(out, 4, MPI_BYTE, size, 0, in, 4, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request),
        MPI_ERR_RANK);
    check_class(MPI_Isendrecv(out, 4, MPI_BYTE, 0, -1, in, 4, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request), MPI_ERR_TAG);
    return finish();
}
