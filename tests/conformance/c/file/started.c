/* Nonblocking accesses: the status of the request holds the count. */
#include "file/file.h"

enum { LENGTH = 4000 };

int main(int argc, char **argv)
{
    char name[NAME];
    static int out[LENGTH], in[4][LENGTH];
    int count = -1, flag = 0;
    MPI_File file;
    MPI_Offset at = -1;
    MPI_Request requests[4], request;
    MPI_Status status, statuses[4];
    begin(&argc, &argv);
    name_of(name, "started");
    for (int i = 0; i < LENGTH; i++)
        out[i] = i * size + rank;
    ok(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    ok(MPI_File_set_view(file, (MPI_Offset)rank * sizeof out, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    ok(MPI_File_iwrite_at(file, 2000, out + 2000, 1000, MPI_INT, &requests[0]));
    ok(MPI_File_iwrite(file, out, 1000, MPI_INT, &requests[1]));
    ok(MPI_File_iwrite_all(file, out + 1000, 1000, MPI_INT, &requests[2]));
    ok(MPI_File_iwrite_at_all_c(file, 3000, out + 3000, 1000, MPI_INT, &requests[3]));
    ok(MPI_Waitall(4, requests, statuses));
    for (int i = 0; i < 4; i++) {
        ok(MPI_Get_count(&statuses[i], MPI_INT, &count));
        check_equal(count, 1000);
        check(requests[i] == MPI_REQUEST_NULL);
    }
    ok(MPI_File_get_position(file, &at));
    check_equal(at, 2000);
    ok(MPI_File_seek(file, 0, MPI_SEEK_SET));
    MPI_Barrier(MPI_COMM_WORLD);

    ok(MPI_File_iread(file, in[0], 2000, MPI_INT, &requests[0]));
    ok(MPI_File_iread_all(file, in[1], 2000, MPI_INT, &requests[1]));
    ok(MPI_File_iread_at(file, 5, in[2], 10, MPI_INT, &requests[2]));
    /* Beyond the end of the file, for the last rank. */
    ok(MPI_File_iread_at_all(file, LENGTH - 3, in[3], 10, MPI_INT, &requests[3]));
    ok(MPI_Wait(&requests[0], &status));
    ok(MPI_Test(&requests[1], &flag, &status));
    while (!flag)
        ok(MPI_Test(&requests[1], &flag, &status));
    ok(MPI_Get_count(&status, MPI_INT, &count));
    check_equal(count, 2000);
    ok(MPI_Wait(&requests[2], &status));
    ok(MPI_Wait(&requests[3], &status));
    ok(MPI_Get_count(&status, MPI_INT, &count));
    check_equal(count, rank == size - 1 ? 3 : 10);
    check(memcmp(in[0], out, 8000) == 0 && memcmp(in[1], out + 2000, 8000) == 0);
    check(memcmp(in[2], out + 5, 40) == 0 && memcmp(in[3], out + LENGTH - 3, 12) == 0);

    /* A wrong argument is an error of the starting call, which returns no request. */
    request = MPI_REQUEST_NULL;
    check_class(MPI_File_iread_at(file, -1, in[0], 1, MPI_INT, &request), MPI_ERR_ARG);
    check_class(MPI_File_iwrite(file, out, -1, MPI_INT, &request), MPI_ERR_COUNT);
    check(request == MPI_REQUEST_NULL);
    /* A request may be freed. */
    ok(MPI_File_iread_at(file, 0, in[0], 1, MPI_INT, &request));
    ok(MPI_Request_free(&request));
    ok(MPI_File_close(&file));
    remove_all(name);
    return finish();
}
