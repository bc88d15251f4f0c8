/* Every operation with MPI_PROC_NULL succeeds at once; receives leave the buffer unchanged and return their status. */
#include "check.h"

static void null_status(const MPI_Status *status)
{
    int count = -1;
    check_equal(status->MPI_SOURCE, MPI_PROC_NULL);
    check_equal(status->MPI_TAG, MPI_ANY_TAG);
    ok(MPI_Get_count(status, MPI_INT, &count));
    check_equal(count, 0);
}

int main(int argc, char **argv)
{
    int word = 77, flag = 0;
    MPI_Status status;
    MPI_Request request;
    MPI_Message message;
    begin(&argc, &argv);
    ok(MPI_Send(&word, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    ok(MPI_Ssend(&word, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    ok(MPI_Bsend(&word, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    ok(MPI_Rsend(&word, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    ok(MPI_Issend(&word, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request));
    ok(MPI_Wait(&request, &status));
    ok(MPI_Recv(&word, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    null_status(&status);
    ok(MPI_Irecv(&word, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request));
    ok(MPI_Wait(&request, &status));
    null_status(&status);
    ok(MPI_Probe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    null_status(&status);
    ok(MPI_Iprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &status));
    check(flag);
    null_status(&status);
    ok(MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, &status));
    check(message == MPI_MESSAGE_NO_PROC);
    null_status(&status);
    ok(MPI_Mrecv(&word, 1, MPI_INT, &message, &status));
    check(message == MPI_MESSAGE_NULL);
    null_status(&status);
    ok(MPI_Sendrecv(&word, 1, MPI_INT, MPI_PROC_NULL, 1, &word, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    null_status(&status);
    ok(MPI_Sendrecv_replace(&word, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    null_status(&status);
    check_equal(word, 77);
    return finish();
}
