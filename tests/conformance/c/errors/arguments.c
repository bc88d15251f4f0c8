/* A wrong argument gives its error class, and the call has no other effect. */
#include "check.h"

int main(int argc, char **argv)
{
    int word = 1, flag = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    begin(&argc, &argv);
    return_errors();
    MPI_Comm world = MPI_COMM_WORLD;
    check_class(MPI_Send(&word, -1, MPI_INT, 0, 0, world), MPI_ERR_COUNT);
    check_class(MPI_Send(&word, 1, MPI_DATATYPE_NULL, 0, 0, world), MPI_ERR_TYPE);
    check_class(MPI_Send(&word, 1, MPI_INT, size, 0, world), MPI_ERR_RANK);
    check_class(MPI_Send(&word, 1, MPI_INT, -100, 0, world), MPI_ERR_RANK);
    check_class(MPI_Send(&word, 1, MPI_INT, MPI_ANY_SOURCE, 0, world), MPI_ERR_RANK);
    check_class(MPI_Send(&word, 1, MPI_INT, 0, -7, world), MPI_ERR_TAG);
    check_class(MPI_Send(&word, 1, MPI_INT, 0, MPI_ANY_TAG, world), MPI_ERR_TAG);
    check_class(MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
    check_class(MPI_Send(NULL, 1, MPI_INT, 0, 0, world), MPI_ERR_BUFFER);
    check_class(MPI_Isend(&word, 1, MPI_INT, size + 3, 0, world, &request), MPI_ERR_RANK);
    check_class(MPI_Irecv(&word, -2, MPI_INT, 0, 0, world, &request), MPI_ERR_COUNT);
    check_class(MPI_Recv(&word, 1, MPI_INT, size, 0, world, &status), MPI_ERR_RANK);
    check_class(MPI_Recv(&word, 1, MPI_INT, 0, -9, world, &status), MPI_ERR_TAG);
    check_class(MPI_Probe(size, 0, world, &status), MPI_ERR_RANK);
    check_class(MPI_Iprobe(0, -5, world, &flag, &status), MPI_ERR_TAG);
    check_class(MPI_Bcast(&word, 1, MPI_INT, size, world), MPI_ERR_ROOT);
    check_class(MPI_Bcast(&word, 1, MPI_INT, -1, world), MPI_ERR_ROOT);
    check_class(MPI_Bcast(&word, -1, MPI_INT, 0, world), MPI_ERR_COUNT);
    check_class(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    check_class(MPI_Allreduce(&word, &flag, 1, MPI_INT, MPI_OP_NULL, world), MPI_ERR_OP);
    check_class(MPI_Comm_rank(MPI_COMM_NULL, &flag), MPI_ERR_COMM);
    check_class(MPI_Comm_size(world, NULL), MPI_ERR_ARG);
    check_class(MPI_Waitall(-1, &request, &status), MPI_ERR_COUNT);
    check_class(MPI_Sendrecv(&word, 1, MPI_INT, 0, 0, &flag, -1, MPI_INT, 0, 0, world, &status), MPI_ERR_COUNT);
    check_class(MPI_Send_c(&word, -1, MPI_INT, 0, 0, world), MPI_ERR_COUNT);
    check_class(MPI_Comm_set_errhandler(world, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
    check(request == MPI_REQUEST_NULL);
    /* The communicator still works. */
    int sum = 0;
    ok(MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, world));
    check_equal(sum, size);
    return finish();
}
