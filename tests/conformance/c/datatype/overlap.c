/* Data is never stored through a type that has a byte twice; it may be sent through one. */
#include "check.h"

static void refused(MPI_Datatype type, int count)
{
    static int data[100];
    MPI_Request request = MPI_REQUEST_NULL;
    char packed[400];
    int position = 0;
    ok(MPI_Type_commit(&type));
    check_class(MPI_Recv(data, count, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    check_class(MPI_Irecv(data, count, type, 0, 0, MPI_COMM_SELF, &request), MPI_ERR_TYPE);
    check_class(MPI_Unpack(packed, 400, &position, data, count, type, MPI_COMM_SELF), MPI_ERR_TYPE);
    check(request == MPI_REQUEST_NULL);
    ok(MPI_Pack(data, count, type, packed, 400, &position, MPI_COMM_SELF));
    ok(MPI_Type_free(&type));
}

int main(int argc, char **argv)
{
    MPI_Datatype type, part;
    const int lengths[] = {2, 2}, places[] = {0, 1}, apart[] = {0, 2}, crossed[] = {4, 3};
    begin(&argc, &argv);
    return_errors();
    ok(MPI_Type_vector(3, 2, 1, MPI_INT, &type));
    refused(type, 1);
    ok(MPI_Type_create_hvector(2, 1, 3, MPI_INT, &type));
    refused(type, 1);
    ok(MPI_Type_create_hvector(2, 1, 0, MPI_INT, &type));
    refused(type, 1);
    ok(MPI_Type_indexed(2, lengths, places, MPI_INT, &type));
    refused(type, 1);
    ok(MPI_Type_indexed(2, lengths, crossed, MPI_INT, &type));
    refused(type, 1);
    ok(MPI_Type_create_resized(MPI_INT, 0, 2, &type));
    refused(type, 2);

    /* Close, and not overlapping: interleaved elements, and blocks in any order. */
    int from[8] = {1, 2, 3, 4, 5, 6, 7, 8}, into[16] = {0};
    ok(MPI_Type_vector(4, 1, 2, MPI_INT, &part));
    ok(MPI_Type_create_resized(part, 0, sizeof(int), &type));
    ok(MPI_Type_commit(&type));
    ok(MPI_Sendrecv(from, 8, MPI_INT, 0, 0, into, 2, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    check(into[0] == 1 && into[2] == 2 && into[1] == 5 && into[7] == 8);
    ok(MPI_Type_free(&type));
    ok(MPI_Type_free(&part));
    ok(MPI_Type_indexed(2, lengths, apart, MPI_INT, &type));
    ok(MPI_Type_commit(&type));
    ok(MPI_Sendrecv(from, 4, MPI_INT, 0, 0, into, 1, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    check(into[3] == 4);
    ok(MPI_Type_free(&type));
    return finish();
}
