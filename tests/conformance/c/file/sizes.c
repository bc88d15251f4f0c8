/* Setting the size is collective, and all processes must pass the same size. */
#include "file/file.h"

int main(int argc, char **argv)
{
    char name[NAME], in[8] = "abcdefg";
    int count = -1;
    MPI_File file;
    MPI_Offset length = -1;
    MPI_Status status;
    begin(&argc, &argv);
    name_of(name, "size");
    const int last = rank == size - 1;
    ok(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    ok(MPI_File_set_size(file, 100000));
    ok(MPI_File_get_size(file, &length));
    check_equal(length, 100000);
    ok(MPI_File_read_at(file, 50000, in, 8, MPI_CHAR, &status));
    ok(MPI_Get_count(&status, MPI_CHAR, &count));
    check(count == 8 && in[0] == 0 && in[7] == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    ok(MPI_File_set_size(file, 10));
    check_equal(size_of(name), 10);
    MPI_Barrier(MPI_COMM_WORLD);
    /* At least this size, with storage for all of it. */
    ok(MPI_File_preallocate(file, 70000));
    check_equal(size_of(name), 70000);
    MPI_Barrier(MPI_COMM_WORLD);
    ok(MPI_File_preallocate(file, 5));
    ok(MPI_File_preallocate(file, 0));
    check_equal(size_of(name), 70000);
    MPI_Barrier(MPI_COMM_WORLD);
    if (size > 1) {
        check_class(MPI_File_set_size(file, last ? 5 : 6), MPI_ERR_NOT_SAME);
        check_class(MPI_File_preallocate(file, last ? 90000 : 80000), MPI_ERR_NOT_SAME);
    }
    check_class(MPI_File_set_size(file, last ? -5 : 6), MPI_ERR_ARG);
    check_equal(size_of(name), 70000);
    MPI_Barrier(MPI_COMM_WORLD);
    ok(MPI_File_set_size(file, 0));
    check_equal(size_of(name), 0);
    ok(MPI_File_close(&file));
    remove_all(name);
    return finish();
}
