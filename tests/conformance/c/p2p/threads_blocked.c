/* Threads wait in calls of all kinds, more of them than cores, while their messages come in a random order: each
 * call returns with its own message. Rank 1 has the threads; rank 0 sends a thread's next message only after it has
 * drawn its number, so that at times one thread runs and all others sleep. */
#include "check.h"
#include <pthread.h>

enum { KINDS = 7, EACH = 3, THREADS = KINDS * EACH, ROUNDS = 60, LIST = 5, LONG = 40000 };

static MPI_Comm comms[THREADS];
static int failures[THREADS];

/* The message of a round: its length varies, and its data identifies the thread. */
static int length_of(int round)
{
    return round % 10 == 9 ? LONG : 8 + round % 50;
}

static int is_mine(const unsigned char *data, int count, int me, int round)
{
    return count == length_of(round) && filled(data, (size_t)count, me * 100 + round);
}

/* One wait of the kind selected by the thread's number; returns the number of bytes received. */
static int receive(int me, unsigned char *data)
{
    MPI_Comm comm = comms[me];
    MPI_Status status;
    MPI_Request requests[LIST];
    MPI_Message message;
    int count = -1, index = -1, some[LIST], flag = 0;
    for (int i = 0; i < LIST; i++)
        requests[i] = MPI_REQUEST_NULL;
    switch (me % KINDS) {
    case 0:
        MPI_Recv(data, LONG, MPI_BYTE, 0, me, comm, &status);
        break;
    case 1:
        MPI_Irecv(data, LONG, MPI_BYTE, 0, me, comm, &requests[0]);
        MPI_Wait(&requests[0], &status);
        break;
    case 2: /* receives without messages beside the one that is waited for */
        for (int i = 0; i < LIST; i++)
            MPI_Irecv(i == 3 ? data : NULL, i == 3 ? LONG : 0, MPI_BYTE, 0, i == 3 ? me : 1000 + i, comm, &requests[i]);
        MPI_Waitany(LIST, requests, &index, &status);
        failures[me] += index != 3;
        for (int i = 0; i < LIST; i++)
            if (i != 3) {
                MPI_Cancel(&requests[i]);
                MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
            }
        break;
    case 3:
        for (int i = 0; i < LIST; i += 2)
            MPI_Irecv(i == 2 ? data : NULL, i == 2 ? LONG : 0, MPI_BYTE, 0, i == 2 ? me : 1000 + i, comm, &requests[i]);
        MPI_Waitsome(LIST, requests, &index, some, &status);
        failures[me] += index != 1 || some[0] != 2;
        for (int i = 0; i < LIST; i += 4) {
            MPI_Cancel(&requests[i]);
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        }
        break;
    case 4:
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
        MPI_Recv(data, LONG, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm, &status);
        break;
    case 5:
        MPI_Mprobe(0, me, comm, &message, &status);
        MPI_Mrecv(data, LONG, MPI_BYTE, &message, &status);
        break;
    default: /* makes progress for the others too */
        MPI_Irecv(data, LONG, MPI_BYTE, 0, me, comm, &requests[0]);
        while (!flag)
            MPI_Test(&requests[0], &flag, &status);
    }
    MPI_Get_count(&status, MPI_BYTE, &count);
    failures[me] += status.MPI_SOURCE != 0 || status.MPI_TAG != me;
    return count;
}

static void *work(void *argument)
{
    int me = (int)(size_t)argument;
    unsigned char *data = malloc(LONG);
    for (int round = 0; round < ROUNDS; round++) {
        memset(data, 0, LONG);
        failures[me] += !is_mine(data, receive(me, data), me, round);
    }
    free(data);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    for (int t = 0; t < THREADS; t++)
        ok(t % 2 ? MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]) : MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comms[t]));
    if (rank == 1) {
        for (int t = 0; t < THREADS; t++)
            pthread_create(&threads[t], NULL, work, (void *)(size_t)t);
        for (int t = 0; t < THREADS; t++) {
            pthread_join(threads[t], NULL);
            check_equal(failures[t], 0);
        }
    } else {
        static unsigned char data[LONG];
        int sent[THREADS] = {0};
        unsigned draw = 12345;
        for (int left = THREADS * ROUNDS; left > 0;) {
            draw = draw * 1103515245u + 12345u;
            int t = (int)(draw >> 16) % THREADS;
            if (sent[t] == ROUNDS)
                continue;
            fill(data, (size_t)length_of(sent[t]), t * 100 + sent[t]);
            ok(MPI_Ssend(data, length_of(sent[t]), MPI_BYTE, 1, t, comms[t]));
            sent[t]++;
            left--;
        }
    }
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_free(&comms[t]);
    return finish();
}
