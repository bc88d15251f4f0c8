/* A file opened with MPI_MODE_SEQUENTIAL has no positions that a program may name. */
#include "file/file.h"

int main(int argc, char **argv)
{
    char name[NAME], data[4] = "abc";
    MPI_File file;
    MPI_Offset at = -1;
    begin(&argc, &argv);
    name_of(name, "sequential");
    ok(MPI_File_open(MPI_COMM_WORLD, name,
                     MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &file));
    check_class(MPI_File_write_at(file, 0, data, 3, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_UNSUPPORTED_OPERATION);
    check_class(MPI_File_write(file, data, 3, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_UNSUPPORTED_OPERATION);
    check_class(MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    check_class(MPI_File_get_position(file, &at), MPI_ERR_UNSUPPORTED_OPERATION);
    check_class(MPI_File_set_size(file, 5), MPI_ERR_UNSUPPORTED_OPERATION);
    ok(MPI_File_get_size(file, &at));
    check_equal(at, 0);
    ok(MPI_File_close(&file));
    check(!exists(name));
    return finish();
}
