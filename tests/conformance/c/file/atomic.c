/* In atomic mode a read gets all of a write or nothing of it, also through views with gaps. */
#include "file/file.h"

enum { LENGTH = 300000, ROUNDS = 60 };

int main(int argc, char **argv)
{
    char name[NAME];
    static unsigned char data[LENGTH];
    int flag = -1;
    MPI_File file;
    begin(&argc, &argv);
    name_of(name, "atomic");
    ok(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    ok(MPI_File_get_atomicity(file, &flag));
    check_equal(flag, 0);
    if (size > 1)
        check_class(MPI_File_set_atomicity(file, rank == 0), MPI_ERR_NOT_SAME);
    ok(MPI_File_set_atomicity(file, 7));
    ok(MPI_File_get_atomicity(file, &flag));
    check_equal(flag, 1);
    ok(MPI_File_set_size(file, 2 * LENGTH));
    for (int gaps = 0; gaps < 2; gaps++) {
        /* The pieces of a view with gaps are transferred one by one. */
        const int length = gaps ? 3000 : LENGTH;
        ok(MPI_File_set_view(file, 0, MPI_SHORT, gaps ? MPI_SHORT_INT : MPI_SHORT, "native", MPI_INFO_NULL));
        if (rank == 0) {
            memset(data, 1, (size_t)length);
            ok(MPI_File_write_at(file, 0, data, length, MPI_BYTE, MPI_STATUS_IGNORE));
        }
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < ROUNDS; i++) {
            if (rank % 2 == 0) {
                memset(data, 1 + (rank + i) % 200, (size_t)length);
                ok(MPI_File_write_at(file, 0, data, length, MPI_BYTE, MPI_STATUS_IGNORE));
            } else {
                ok(MPI_File_read_at(file, 0, data, length, MPI_BYTE, MPI_STATUS_IGNORE));
                check(memcmp(data, data + 1, (size_t)length - 1) == 0);
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    ok(MPI_File_set_atomicity(file, 0));
    ok(MPI_File_get_atomicity(file, &flag));
    check_equal(flag, 0);
    ok(MPI_File_close(&file));
    remove_all(name);
    return finish();
}
