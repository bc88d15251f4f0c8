/* A duplicated type can be used like the first one, also by operations under way when it is freed; predefined types
 * cannot be freed. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Datatype type, again;
    int bytes = -1, value = 42, got = 0;
    MPI_Request requests[2];
    begin(&argc, &argv);
    return_errors();
    ok(MPI_Type_dup(MPI_INT, &type));
    ok(MPI_Type_dup(type, &again));
    ok(MPI_Type_free(&type));
    check(type == MPI_DATATYPE_NULL);
    ok(MPI_Type_size(again, &bytes));
    check_equal(bytes, sizeof(int));
    ok(MPI_Irecv(&got, 1, again, 0, 0, MPI_COMM_SELF, &requests[0]));
    ok(MPI_Isend(&value, 1, again, 0, 0, MPI_COMM_SELF, &requests[1]));
    ok(MPI_Type_free(&again));
    ok(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    check_equal(got, 42);
    type = MPI_INT;
    check_class(MPI_Type_free(&type), MPI_ERR_TYPE);
    type = MPI_DATATYPE_NULL;
    check_class(MPI_Type_free(&type), MPI_ERR_TYPE);
    check_class(MPI_Type_size(MPI_DATATYPE_NULL, &bytes), MPI_ERR_TYPE);
    return finish();
}
