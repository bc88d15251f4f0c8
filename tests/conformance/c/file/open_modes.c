/* Access modes: which can be combined, and their effect on a file that exists, or does not. */
#include "file/file.h"

int main(int argc, char **argv)
{
    char name[NAME], data[8] = "1234567";
    int amode = -1;
    MPI_File file;
    MPI_Offset at = -1;
    begin(&argc, &argv);
    name_of(name, "modes");
    MPI_Comm world = MPI_COMM_WORLD;
    const int new_file = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR;

    const int refused[] = {
        0,
        MPI_MODE_CREATE,
        MPI_MODE_RDONLY | MPI_MODE_WRONLY,
        MPI_MODE_RDONLY | MPI_MODE_RDWR,
        MPI_MODE_RDONLY | MPI_MODE_CREATE,
        MPI_MODE_RDONLY | MPI_MODE_EXCL,
        MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL,
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        file = MPI_FILE_NULL;
        check_class(MPI_File_open(world, name, refused[i], MPI_INFO_NULL, &file), MPI_ERR_AMODE);
        check(file == MPI_FILE_NULL && !exists(name));
    }

    check_class(MPI_File_open(world, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE);
    check(!exists(name));
    MPI_Barrier(world);
    /* Repeated: one process creates the file, and no other process finds an older one. */
    for (int i = 0; i < 50; i++) {
        ok(MPI_File_open(world, name, new_file | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
        check(exists(name));
        MPI_Barrier(world);
        ok(MPI_File_close(&file));
        check(file == MPI_FILE_NULL && !exists(name));
        MPI_Barrier(world);
    }
    ok(MPI_File_open(world, name, new_file, MPI_INFO_NULL, &file));
    ok(MPI_File_get_amode(file, &amode));
    check_equal(amode, new_file);
    if (rank == 0)
        ok(MPI_File_write_at(file, 0, data, 8, MPI_CHAR, MPI_STATUS_IGNORE));
    ok(MPI_File_close(&file));
    MPI_Barrier(world);

    check_class(MPI_File_open(world, name, new_file, MPI_INFO_NULL, &file), MPI_ERR_FILE_EXISTS);
    check_equal(size_of(name), 8);
    /* A file that exists is opened, not created. */
    ok(MPI_File_open(world, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_UNIQUE_OPEN, MPI_INFO_NULL, &file));
    ok(MPI_File_get_position(file, &at));
    check_equal(at, 0);
    ok(MPI_File_close(&file));
    check_equal(size_of(name), 8);
    ok(MPI_File_open(world, name, MPI_MODE_RDWR | MPI_MODE_APPEND, MPI_INFO_NULL, &file));
    ok(MPI_File_get_position(file, &at));
    check_equal(at, 8);
    ok(MPI_File_seek(file, 2, MPI_SEEK_SET));
    ok(MPI_File_read(file, data, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    check_equal(data[0], '3');
    ok(MPI_File_close(&file));
    remove_all(name);
    return finish();
}
