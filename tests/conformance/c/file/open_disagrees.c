/* An open that fails in one process fails in all, with the same class, and leaves no file. */
#include "file/file.h"

int main(int argc, char **argv)
{
    char name[NAME], other[NAME], nowhere[NAME], expected[64];
    MPI_File file;
    MPI_Info info;
    begin(&argc, &argv);
    name_of(name, "one");
    name_of(other, "two");
    name_of(nowhere, "no-folder/x");
    MPI_Comm world = MPI_COMM_WORLD;
    const int last = rank == size - 1;
    const int create = MPI_MODE_CREATE | MPI_MODE_RDWR, exclusive = create | MPI_MODE_EXCL;

    check_class(MPI_File_open(world, name, last ? exclusive : create, MPI_INFO_NULL, &file), MPI_ERR_NOT_SAME);
    check(!exists(name));
    /* A wrong argument of one process. */
    check_class(MPI_File_open(world, last ? "" : name, create, MPI_INFO_NULL, &file), MPI_ERR_BAD_FILE);
    check_class(MPI_File_open(world, name, last ? 0 : create, MPI_INFO_NULL, &file), MPI_ERR_AMODE);
    MPI_Info_create(&info);
    MPI_Info freed = info;
    MPI_Info_free(&info);
    check_class(MPI_File_open(world, name, create, last ? freed : MPI_INFO_NULL, &file), MPI_ERR_INFO);
    check(!exists(name));
    MPI_Barrier(world);

    /* Rank 0 creates the file, the last one cannot open its own: the file is deleted again. */
    int code = MPI_File_open(world, last ? nowhere : name, exclusive, MPI_INFO_NULL, &file);
    const int absent = size > 1 ? MPI_ERR_NOT_SAME : MPI_ERR_NO_SUCH_FILE;
    check_class(code, absent);
    snprintf(expected, sizeof expected, "rank 0 and rank %d gave different names", size - 1);
    check(size == 1 ? has(code, "ENOENT") : has(code, expected));
    check(!last || has(code, "no-folder/x"));
    check(!exists(name));
    MPI_Barrier(world);
    /* A file that existed before stays. */
    if (rank == 0)
        make(name, "old", 3);
    MPI_Barrier(world);
    check_class(MPI_File_open(world, last ? nowhere : name, create, MPI_INFO_NULL, &file), absent);
    check_equal(size_of(name), 3);

    /* Rank 0 cannot create the file: the open fails in all processes. */
    code = MPI_File_open(world, rank ? other : nowhere, create, MPI_INFO_NULL, &file);
    check_class(code, MPI_ERR_NO_SUCH_FILE);
    check(!exists(other));
    MPI_Barrier(world);

    /* Processes cannot open different files together. */
    if (rank == 0)
        make(other, "other", 5);
    MPI_Barrier(world);
    check_class(MPI_File_open(world, last ? other : name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_NOT_SAME);
    /* They can open one file by different names. */
    if (rank == 0) {
        unlink(other);
        check_equal(symlink(name, other), 0);
    }
    MPI_Barrier(world);
    ok(MPI_File_open(world, last ? other : name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    ok(MPI_File_close(&file));
    remove_all(name);
    remove_all(other);
    return finish();
}
