/* Only a committed datatype can be used in communication; MPI_Type_commit may be called again and on predefined types;
 * a duplicate of a committed type is committed. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Datatype type, committed, predefined = MPI_INT, again;
    int data[12] = {0}, position = 0, length = -1;
    char packed[64];
    MPI_Request request = MPI_REQUEST_NULL;
    begin(&argc, &argv);
    return_errors();

    ok(MPI_Type_vector(2, 1, 2, MPI_INT, &type));
    check_class(MPI_Send(data, 1, type, 0, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
    check_class(MPI_Recv(data, 1, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    check_class(MPI_Isend(data, 1, type, 0, 0, MPI_COMM_SELF, &request), MPI_ERR_TYPE);
    check_class(MPI_Irecv(data, 1, type, 0, 0, MPI_COMM_SELF, &request), MPI_ERR_TYPE);
    check_class(MPI_Bcast(data, 1, type, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
    check_class(MPI_Pack(data, 1, type, packed, 64, &position, MPI_COMM_SELF), MPI_ERR_TYPE);
    check_class(MPI_Unpack(packed, 64, &position, data, 1, type, MPI_COMM_SELF), MPI_ERR_TYPE);
    check_class(MPI_Pack_external("external32", data, 1, type, packed, 64, &(MPI_Aint){0}), MPI_ERR_TYPE);
    check(request == MPI_REQUEST_NULL && position == 0);

    /* Calls that need no commit: size, bounds, names, and constructors. */
    ok(MPI_Type_size(type, &length));
    check_equal(length, 8);
    ok(MPI_Pack_size(3, type, MPI_COMM_SELF, &length));
    check_equal(length, 24);
    ok(MPI_Type_dup(type, &again));
    check_class(MPI_Send(data, 1, again, 0, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
    ok(MPI_Type_free(&again));
    ok(MPI_Type_contiguous(2, type, &again));
    ok(MPI_Type_commit(&again));
    ok(MPI_Type_free(&again));

    committed = type;
    ok(MPI_Type_commit(&committed));
    check(committed == type);
    ok(MPI_Type_commit(&type));
    ok(MPI_Type_commit(&predefined));
    check(predefined == MPI_INT);
    ok(MPI_Type_dup(type, &again));
    ok(MPI_Pack(data, 1, again, packed, 64, &position, MPI_COMM_SELF));
    check_equal(position, 8);
    ok(MPI_Sendrecv(data, 1, type, 0, 1, data + 6, 1, again, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    ok(MPI_Type_free(&again));
    ok(MPI_Type_free(&type));
    MPI_Datatype null = MPI_DATATYPE_NULL;
    check_class(MPI_Type_commit(&null), MPI_ERR_TYPE);
    check_class(MPI_Type_commit(&committed), MPI_ERR_TYPE);
    return finish();
}
