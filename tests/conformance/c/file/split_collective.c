/* Split collective accesses: one at a time for a file, and both calls with the same memory. */
#include "file/file.h"

int main(int argc, char **argv)
{
    char name[NAME];
    int out[100], in[100], other[100], count = -1;
    MPI_File file;
    MPI_Offset at = -1;
    MPI_Status status;
    begin(&argc, &argv);
    name_of(name, "split");
    for (int i = 0; i < 100; i++)
        out[i] = 1000 * rank + i;
    ok(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    ok(MPI_File_set_view(file, (MPI_Offset)rank * sizeof out, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    check_class(MPI_File_write_all_end(file, out, &status), MPI_ERR_IO);
    ok(MPI_File_write_all_begin(file, out, 50, MPI_INT));
    check_class(MPI_File_write_all_begin(file, out, 50, MPI_INT), MPI_ERR_IO);
    check_class(MPI_File_read_at_all_begin(file, 0, in, 50, MPI_INT), MPI_ERR_IO);
    check_class(MPI_File_read_all_end(file, out, &status), MPI_ERR_IO);
    check_class(MPI_File_write_all_end(file, other, &status), MPI_ERR_BUFFER);
    ok(MPI_File_write_all_end(file, out, &status));
    ok(MPI_Get_count(&status, MPI_INT, &count));
    check_equal(count, 50);
    check_class(MPI_File_write_all_end(file, out, &status), MPI_ERR_IO);
    ok(MPI_File_get_position(file, &at));
    check_equal(at, 50);
    ok(MPI_File_write_at_all_begin_c(file, 50, out + 50, 50, MPI_INT));
    ok(MPI_File_write_at_all_end(file, out + 50, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);

    memset(in, 0, sizeof in);
    ok(MPI_File_read_all_begin(file, in + 50, 50, MPI_INT));
    ok(MPI_File_read_all_end(file, in + 50, &status));
    ok(MPI_File_read_at_all_begin(file, 0, in, 50, MPI_INT));
    ok(MPI_File_read_at_all_end(file, in, &status));
    ok(MPI_Get_count(&status, MPI_INT, &count));
    check_equal(count, 50);
    check(memcmp(in, out, sizeof in) == 0);
    /* An access that did not begin has no end call. */
    check_class(MPI_File_read_at_all_begin(file, -5, in, 50, MPI_INT), MPI_ERR_ARG);
    ok(MPI_File_read_at_all_begin(file, 0, in, 1, MPI_INT));
    ok(MPI_File_read_at_all_end(file, in, &status));
    ok(MPI_File_close(&file));
    remove_all(name);
    return finish();
}
