/* Threads exchange messages of many megabytes while others send short ones, test requests and cancel: every message
 * arrives whole, whichever thread copies it, in every form of send and receive. */
#include "threads.h"

enum { THREADS = 4, ROUNDS = 6, LONG_BYTES = 6000000, SHORT_ROUNDS = 400 };

static MPI_Comm own[THREADS];
static int failures[THREADS];

static int previous_rank(void)
{
    return (rank + size - 1) % size;
}

static void exchange(int me, int round, unsigned char *out, unsigned char *in)
{
    int next = (rank + 1) % size, previous = previous_rank(), count = 0, length = LONG_BYTES - 1000 * round;
    MPI_Comm comm = own[me];
    MPI_Request requests[2];
    MPI_Status status;
    fill(out, (size_t)length, me + round + rank);
    memset(in, 0, LONG_BYTES);
    switch (round % 6) {
    case 0:
        MPI_Sendrecv(out, length, MPI_BYTE, next, 1, in, LONG_BYTES, MPI_BYTE, previous, 1, comm, &status);
        break;
    case 1:
        MPI_Isend(out, length, MPI_BYTE, next, 1, comm, &requests[0]);
        MPI_Recv(in, LONG_BYTES, MPI_BYTE, previous, 1, comm, &status);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        break;
    case 2:
        MPI_Irecv(in, LONG_BYTES, MPI_BYTE, MPI_ANY_SOURCE, 1, comm, &requests[1]);
        MPI_Issend(out, length, MPI_BYTE, next, 1, comm, &requests[0]);
        for (int flag = 0; !flag;)
            MPI_Test(&requests[1], &flag, &status);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        break;
    case 3:
        MPI_Ibsend(out, length, MPI_BYTE, next, 1, comm, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        memset(out, 0, LONG_BYTES);
        MPI_Recv(in, LONG_BYTES, MPI_BYTE, previous, 1, comm, &status);
        break;
    case 4: {
        MPI_Message message;
        MPI_Isend(out, length, MPI_BYTE, next, 1, comm, &requests[0]);
        MPI_Mprobe(previous, 1, comm, &message, &status);
        MPI_Mrecv(in, LONG_BYTES, MPI_BYTE, &message, &status);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        break;
    }
    default:
        memcpy(in, out, (size_t)length);
        MPI_Sendrecv_replace(in, length, MPI_BYTE, next, 1, previous, 1, comm, &status);
    }
    MPI_Get_count(&status, MPI_BYTE, &count);
    if (count != length || status.MPI_SOURCE != previous || !filled(in, (size_t)length, me + round + previous))
        failures[me]++;
}

static void *long_messages(int me)
{
    unsigned char *out = malloc(LONG_BYTES), *in = malloc(LONG_BYTES);
    for (int round = 0; round < ROUNDS; round++)
        exchange(me, round, out, in);
    free(out);
    free(in);
    return NULL;
}

/* Short messages around the ring, receives that are cancelled, and a message to this process itself. */
static void *short_messages(int me)
{
    for (int round = 0; round < SHORT_ROUNDS; round++) {
        int out = 1000 * rank + round, in = -1, cancelled = 0, self = -1;
        MPI_Request never;
        MPI_Status status;
        MPI_Irecv(&self, 1, MPI_INT, previous_rank(), 9, own[me], &never);
        MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 2, &in, 1, MPI_INT, previous_rank(), 2, own[me], &status);
        failures[me] += in != 1000 * previous_rank() + round;
        MPI_Cancel(&never);
        MPI_Wait(&never, &status);
        MPI_Test_cancelled(&status, &cancelled);
        failures[me] += !cancelled;
        MPI_Sendrecv(&out, 1, MPI_INT, 0, 3, &self, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &status);
        failures[me] += self != out;
    }
    return NULL;
}

static void *work(void *argument)
{
    int me = (int)(size_t)argument;
    return me < THREADS - 1 ? long_messages(me) : short_messages(me);
}

int main(int argc, char **argv)
{
    begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    int room = (THREADS - 1) * (LONG_BYTES + MPI_BSEND_OVERHEAD);
    void *buffer = malloc((size_t)room);
    ok(MPI_Buffer_attach(buffer, room));
    run_threads(THREADS, own, work);
    for (int i = 0; i < THREADS; i++)
        check_equal(failures[i], 0);
    ok(MPI_Buffer_detach(&buffer, &room));
    free(buffer);
    return finish();
}
