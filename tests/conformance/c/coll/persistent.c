/* Persistent collectives: each start is one operation, on the data of that time; requests may be started in different
 * orders by different processes, and are kept by completion. */
#include "check.h"

enum { N = 300, STARTS = 20, KINDS = 8 };

static int *send[KINDS], *recv[KINDS];

static int value(int start, int kind, int who, int place)
{
    return start * 100003 + kind * 1009 + who * 31 + place;
}

static void check_results(int start, int root)
{
    for (int i = 0; i < N; i++) {
        long long sum = 0;
        for (int who = 0; who < size; who++)
            sum += value(start, 6, who, i);
        check_equal(send[1][i], value(start, 1, root, i));
        check_equal(recv[3][i], value(start, 3, root, rank * N + i));
        check_equal(recv[6][i], rank == root ? (int)sum : -1);
        check_equal(recv[7][i], value(start, 7, size - 1, i));
    }
    for (int i = 0; i < size * N; i++) {
        check_equal(recv[2][i], rank == root ? value(start, 2, i / N, i % N) : -1);
        check_equal(recv[4][i], value(start, 4, i / N, i % N));
        check_equal(recv[5][i], value(start, 5, i / N, rank * N + i % N));
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int root = size / 2;
    MPI_Comm comm;
    MPI_Request requests[KINDS];
    for (int kind = 0; kind < KINDS; kind++) {
        send[kind] = malloc((size_t)size * N * sizeof(int));
        recv[kind] = malloc((size_t)size * N * sizeof(int));
    }
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    ok(MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[0]));
    ok(MPI_Bcast_init(send[1], N, MPI_INT, root, comm, MPI_INFO_NULL, &requests[1]));
    ok(MPI_Gather_init(send[2], N, MPI_INT, recv[2], N, MPI_INT, root, comm, MPI_INFO_NULL, &requests[2]));
    ok(MPI_Scatter_init(send[3], N, MPI_INT, recv[3], N, MPI_INT, root, comm, MPI_INFO_NULL, &requests[3]));
    ok(MPI_Allgather_init(send[4], N, MPI_INT, recv[4], N, MPI_INT, comm, MPI_INFO_NULL, &requests[4]));
    ok(MPI_Alltoall_init(send[5], N, MPI_INT, recv[5], N, MPI_INT, comm, MPI_INFO_NULL, &requests[5]));
    ok(MPI_Reduce_init(send[6], recv[6], N, MPI_INT, MPI_SUM, root, comm, MPI_INFO_NULL, &requests[6]));
    ok(MPI_Allreduce_init(send[7], recv[7], N, MPI_INT, MPI_MAX, comm, MPI_INFO_NULL, &requests[7]));
    /* The requests keep what they need of the communicator. */
    ok(MPI_Comm_free(&comm));
    for (int start = 0; start < STARTS; start++) {
        for (int kind = 0; kind < KINDS; kind++)
            for (int i = 0; i < size * N; i++) {
                send[kind][i] = value(start, kind, rank, i);
                recv[kind][i] = -1;
            }
        if (start % 3 == 0) {
            ok(MPI_Startall(KINDS, requests));
        } else {
            for (int i = 0; i < KINDS; i++) {
                int kind = start % 3 == 1 && rank % 2 ? KINDS - 1 - i : i;
                ok(MPI_Start(&requests[kind]));
            }
        }
        if (start % 2 == 0) {
            ok(MPI_Waitall(KINDS, requests, MPI_STATUSES_IGNORE));
        } else {
            for (int kind = 0; kind < KINDS; kind++)
                for (int flag = 0; !flag;)
                    ok(MPI_Test(&requests[kind], &flag, MPI_STATUS_IGNORE));
        }
        for (int kind = 0; kind < KINDS; kind++)
            check(requests[kind] != MPI_REQUEST_NULL);
        check_results(start, root);
    }
    for (int kind = 0; kind < KINDS; kind++) {
        ok(MPI_Request_free(&requests[kind]));
        free(send[kind]);
        free(recv[kind]);
    }
    return finish();
}
