/* A file that is open when MPI ends is closed with a warning, and deleted if it was opened with
 * MPI_MODE_DELETE_ON_CLOSE. */
#include "file/file.h"

int main(int argc, char **argv)
{
    char name[NAME];
    MPI_File file;
    begin(&argc, &argv);
    name_of(name, "left");
    ok(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &file));
    ok(MPI_File_write_at(file, rank, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (exists(name))
        wrong++;
    return verdict(wrong);
}
