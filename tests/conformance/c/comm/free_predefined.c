/* Freeing a predefined or the null communicator is an error of class MPI_ERR_COMM. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return_errors();
    MPI_Comm comm = MPI_COMM_WORLD;
    check_class(MPI_Comm_free(&comm), MPI_ERR_COMM);
    comm = MPI_COMM_SELF;
    check_class(MPI_Comm_free(&comm), MPI_ERR_COMM);
    comm = MPI_COMM_NULL;
    check_class(MPI_Comm_free(&comm), MPI_ERR_COMM);
    return finish();
}
