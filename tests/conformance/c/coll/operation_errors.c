/* An operation on a type that it is not defined on is an error of class MPI_ERR_OP in all ranks. */
#include "check.h"

int main(int argc, char **argv)
{
    double complex_like[4] = {0};
    double out[4];
    begin(&argc, &argv);
    return_errors();
    check_class(MPI_Allreduce(complex_like, out, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD), MPI_ERR_OP);
    check_class(MPI_Allreduce(complex_like, out, 1, MPI_C_DOUBLE_COMPLEX, MPI_MAX, MPI_COMM_WORLD), MPI_ERR_OP);
    check_class(MPI_Reduce(complex_like, out, 1, MPI_BYTE, MPI_SUM, 0, MPI_COMM_WORLD), MPI_ERR_OP);
    check_class(MPI_Reduce(complex_like, out, 1, MPI_INT, MPI_MAXLOC, 0, MPI_COMM_WORLD), MPI_ERR_OP);
    check_class(MPI_Reduce_local(complex_like, out, 1, MPI_2INT, MPI_SUM), MPI_ERR_OP);
    check_class(MPI_Allreduce(complex_like, out, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD), MPI_ERR_OP);
    MPI_Op op = MPI_SUM;
    check_class(MPI_Op_free(&op), MPI_ERR_OP);
    op = MPI_OP_NULL;
    check_class(MPI_Op_free(&op), MPI_ERR_OP);
    return finish();
}
