/* Files are deleted by name and on closing; processes that have a file open can still use it. */
#include "file/file.h"

int main(int argc, char **argv)
{
    char name[NAME], in[8] = "";
    MPI_File file;
    begin(&argc, &argv);
    name_of(name, "delete");
    MPI_Comm world = MPI_COMM_WORLD;
    const int create = MPI_MODE_CREATE | MPI_MODE_RDWR;

    ok(MPI_File_open(world, name, create | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    ok(MPI_File_write_at(file, rank, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE));
    check(exists(name));
    ok(MPI_File_close(&file));
    check(!exists(name));
    MPI_Barrier(world);

    ok(MPI_File_open(world, name, create, MPI_INFO_NULL, &file));
    if (rank == 0) {
        ok(MPI_File_write_at(file, 0, "kept", 4, MPI_CHAR, MPI_STATUS_IGNORE));
        ok(MPI_File_delete(name, MPI_INFO_NULL));
        check_class(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    }
    MPI_Barrier(world);
    check(!exists(name));
    ok(MPI_File_read_at(file, 0, in, 4, MPI_CHAR, MPI_STATUS_IGNORE));
    check(strcmp(in, "kept") == 0);
    ok(MPI_File_close(&file));
    check(!exists(name));
    /* A file that no longer exists need not be deleted. */
    ok(MPI_File_open(world, name, create | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    if (rank == 0)
        unlink(name);
    ok(MPI_File_close(&file));
    return finish();
}
