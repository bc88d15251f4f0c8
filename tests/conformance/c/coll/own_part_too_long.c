/* What a process sends to itself in a collective must fit there, as what it sends to others. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int out[4] = {1, 2, 3, 4}, in[4] = {-1, -1, -1, -1};
    MPI_Comm self;
    ok(MPI_Comm_dup(MPI_COMM_SELF, &self));
    ok(MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN));
    check_class(MPI_Gather(out, 2, MPI_INT, in, 1, MPI_INT, 0, self), MPI_ERR_TRUNCATE);
    check_class(MPI_Scatter(out, 2, MPI_INT, in, 1, MPI_INT, 0, self), MPI_ERR_TRUNCATE);
    check_class(MPI_Allgather(out, 2, MPI_INT, in, 1, MPI_INT, self), MPI_ERR_TRUNCATE);
    check_class(MPI_Alltoall(out, 2, MPI_INT, in, 1, MPI_INT, self), MPI_ERR_TRUNCATE);
    check_equal(in[1], -1);
    /* Less than there is room for is no error. */
    ok(MPI_Gather(out, 1, MPI_INT, in, 2, MPI_INT, 0, self));
    ok(MPI_Allgather(out + 1, 1, MPI_INT, in, 2, MPI_INT, self));
    check_equal(in[0], 2);
    ok(MPI_Comm_free(&self));
    return finish();
}
