/* A file has a communicator of its own: the one it was opened on may be freed, and its messages do not match the
 * file's. */
#include "file/file.h"

int main(int argc, char **argv)
{
    char name[NAME];
    int result = -1, number = 0, value = rank;
    MPI_Comm comm;
    MPI_File file;
    MPI_Group of_file, of_comm;
    MPI_Request request;
    begin(&argc, &argv);
    name_of(name, "comm");
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
    MPI_Comm_size(comm, &number);
    MPI_Comm_group(comm, &of_comm);
    name[strlen(name) - 1] = (char)('0' + rank % 2);
    /* A receive with wildcards is posted, and gets the program's message. */
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
    ok(MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    ok(MPI_File_set_size(file, 1000));
    int own, seven = 7;
    MPI_Comm_rank(comm, &own);
    MPI_Send(&seven, 1, MPI_INT, (own + 1) % number, 3, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_equal(value, 7);
    MPI_Comm_free(&comm);

    ok(MPI_File_get_group(file, &of_file));
    ok(MPI_Group_compare(of_file, of_comm, &result));
    check_equal(result, MPI_IDENT);
    ok(MPI_Group_free(&of_file));
    MPI_Group_free(&of_comm);
    ok(MPI_File_set_size(file, 10));
    check_equal(size_of(name), 10);
    MPI_Barrier(MPI_COMM_WORLD);
    ok(MPI_File_close(&file));
    check(!exists(name));
    return finish();
}
