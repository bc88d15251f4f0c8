/* Four threads a rank send and receive at once, on one communicator and each on its own, small and large, with waits of
 * all kinds; every message arrives once and whole. */
#include "threads.h"

enum { THREADS = 4, ROUNDS = 300, LARGEST = 120000 };

static MPI_Comm own[THREADS];
static int failures[THREADS];

static int length_of(int round)
{
    static const int lengths[] = {0, 8, 60, 1000, 20000, LARGEST};
    return lengths[round % 6];
}

/* In a ring, each thread with its own tag or its own communicator. */
static void *work(void *argument)
{
    int me = (int)(size_t)argument, next = (rank + 1) % size, previous = (rank + size - 1) % size;
    unsigned char *out = malloc(LARGEST), *in = malloc(LARGEST);
    for (int round = 0; round < ROUNDS; round++) {
        int length = length_of(round + me), count = -1, seed = me * 1000 + round, tag = round % 2 ? me : 10 + me;
        MPI_Comm comm = round % 2 ? MPI_COMM_WORLD : own[me];
        MPI_Request requests[2];
        MPI_Status statuses[2];
        fill(out, (size_t)length, seed + rank);
        memset(in, 0, (size_t)length);
        if (round % 5 == 0) {
            MPI_Sendrecv(out, length, MPI_BYTE, next, tag, in, LARGEST, MPI_BYTE, previous, tag, comm, &statuses[0]);
        } else {
            MPI_Irecv(in, LARGEST, MPI_BYTE, round % 2 || round % 3 ? previous : MPI_ANY_SOURCE, tag, comm,
                      &requests[0]);
            MPI_Isend(out, length, MPI_BYTE, next, tag, comm, &requests[1]);
            if (round % 3 == 0) {
                MPI_Waitall(2, requests, statuses);
            } else if (round % 3 == 1) {
                MPI_Wait(&requests[0], &statuses[0]);
                MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
            } else {
                for (int flag = 0; !flag;)
                    MPI_Testall(2, requests, &flag, statuses);
            }
        }
        MPI_Get_count(&statuses[0], MPI_BYTE, &count);
        if (count != length || statuses[0].MPI_SOURCE != previous || !filled(in, (size_t)length, seed + previous))
            failures[me]++;
        if (round % 50 == 7) {
            int sum = 0;
            MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, own[me]);
            failures[me] += sum != round * size;
        }
    }
    free(out);
    free(in);
    return NULL;
}

int main(int argc, char **argv)
{
    begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    run_threads(THREADS, own, work);
    for (int i = 0; i < THREADS; i++)
        check_equal(failures[i], 0);
    return finish();
}
