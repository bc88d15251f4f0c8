/* A persistent request is started again and again in each mode and size: each start sends or receives one message,
 * each completion leaves the request inactive, with its handle as it was; an inactive request completes at once,
 * with the empty status, and a free of one makes the handle null. */
#include "check.h"

enum { MODES = 4, SIZES = 4, ROUNDS = 6, LARGEST = 300000 };

static const int sizes[SIZES] = {0, 8, 5000, LARGEST};
static unsigned char data[MODES * SIZES][LARGEST];

static void empty(const MPI_Status *status)
{
    int count = -1, cancelled = 1;
    MPI_Get_count(status, MPI_BYTE, &count);
    MPI_Test_cancelled(status, &cancelled);
    check_equal(status->MPI_SOURCE, MPI_ANY_SOURCE);
    check_equal(status->MPI_TAG, MPI_ANY_TAG);
    check_equal(count, 0);
    check(!cancelled);
}

int main(int argc, char **argv)
{
    MPI_Request requests[MODES * SIZES], before[MODES * SIZES];
    MPI_Status statuses[MODES * SIZES], status;
    int flag, index, count;
    void *buffer = malloc(ROUNDS * SIZES * (LARGEST + MPI_BSEND_OVERHEAD));
    begin(&argc, &argv);
    ok(MPI_Buffer_attach(buffer, ROUNDS * SIZES * (LARGEST + MPI_BSEND_OVERHEAD)));
    for (int mode = 0; mode < MODES; mode++)
        for (int size = 0; size < SIZES; size++) {
            int i = mode * SIZES + size, bytes = sizes[size];
            MPI_Request *request = &requests[i];
            if (rank == 1)
                ok(MPI_Recv_init(data[i], bytes, MPI_BYTE, 0, i, MPI_COMM_WORLD, request));
            else if (mode == 0)
                ok(MPI_Send_init(data[i], bytes, MPI_BYTE, 1, i, MPI_COMM_WORLD, request));
            else if (mode == 1)
                ok(MPI_Ssend_init_c(data[i], bytes, MPI_BYTE, 1, i, MPI_COMM_WORLD, request));
            else if (mode == 2)
                ok(MPI_Bsend_init(data[i], bytes, MPI_BYTE, 1, i, MPI_COMM_WORLD, request));
            else
                ok(MPI_Rsend_init(data[i], bytes, MPI_BYTE, 1, i, MPI_COMM_WORLD, request));
            before[i] = *request;
            check(*request != MPI_REQUEST_NULL);
        }
    for (int round = 0; round < ROUNDS; round++) {
        int all = MODES * SIZES;
        for (int i = 0; i < all && rank == 0; i++)
            fill(data[i], (size_t)sizes[i % SIZES], round * all + i);
        if (rank == 1)
            ok(MPI_Startall(all, requests));
        /* The receives of ready sends are posted. */
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < all && rank == 0; i++)
            ok(MPI_Start(&requests[i]));
        if (round % 3 == 0) {
            ok(MPI_Waitall(all, requests, statuses));
        } else if (round % 3 == 1) {
            for (int i = 0; i < all; i++)
                ok(MPI_Wait(&requests[i], &statuses[i]));
        } else {
            for (int i = 0; i < all; i++) {
                ok(MPI_Waitany(all, requests, &index, &status));
                check(index >= 0 && index < all);
                statuses[index] = status;
            }
        }
        for (int i = 0; i < all; i++) {
            check(requests[i] == before[i]);
            if (rank == 1) {
                MPI_Get_count(&statuses[i], MPI_BYTE, &count);
                check_equal(count, sizes[i % SIZES]);
                check_equal(statuses[i].MPI_SOURCE, 0);
                check_equal(statuses[i].MPI_TAG, i);
                check(filled(data[i], (size_t)sizes[i % SIZES], round * all + i));
            }
        }
        /* All are inactive. */
        ok(MPI_Wait(&requests[3], &status));
        empty(&status);
        ok(MPI_Test(&requests[5], &flag, &status));
        check(flag);
        empty(&status);
        ok(MPI_Waitany(all, requests, &index, &status));
        check_equal(index, MPI_UNDEFINED);
        empty(&status);
        ok(MPI_Testall(all, requests, &flag, MPI_STATUSES_IGNORE));
        check(flag);
        ok(MPI_Request_get_status(requests[0], &flag, &status));
        check(flag);
    }
    for (int i = 0; i < MODES * SIZES; i++) {
        ok(MPI_Request_free(&requests[i]));
        check(requests[i] == MPI_REQUEST_NULL);
    }
    ok(MPI_Buffer_detach(&buffer, &count));
    free(buffer);
    return finish();
}
