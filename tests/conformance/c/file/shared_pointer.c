/* The shared file pointer: every access has a part of its own, and the ordered ones the part of their rank. */
#include "file/file.h"

enum { WRITES = 300, LENGTH = 32 };

int main(int argc, char **argv)
{
    char name[NAME];
    int line[LENGTH], in[LENGTH], count = -1, *seen;
    MPI_File file;
    MPI_Offset at = -1;
    MPI_Request request;
    MPI_Status status;
    begin(&argc, &argv);
    name_of(name, "shared");
    MPI_Comm world = MPI_COMM_WORLD;
    const int last = rank == size - 1;
    ok(MPI_File_open(world, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    ok(MPI_File_set_view(file, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    ok(MPI_File_get_position_shared(file, &at));
    check_equal(at, 0);
    MPI_Barrier(world);

    /* All processes at once. */
    for (int i = 0; i < WRITES; i++) {
        for (int k = 0; k < LENGTH; k++)
            line[k] = rank * WRITES + i;
        if (i % 2)
            ok(MPI_File_write_shared(file, line, LENGTH, MPI_INT, &status));
        else {
            ok(MPI_File_iwrite_shared(file, line, LENGTH, MPI_INT, &request));
            ok(MPI_Wait(&request, &status));
        }
        ok(MPI_Get_count(&status, MPI_INT, &count));
        check_equal(count, LENGTH);
    }
    ok(MPI_File_get_position(file, &at));
    check_equal(at, 0);
    MPI_Barrier(world);
    ok(MPI_File_get_position_shared(file, &at));
    check_equal(at, size * WRITES * LENGTH);
    check_equal(size_of(name), 4 + 4 * (long long)size * WRITES * LENGTH);

    /* Each line is written once, whole, and read by one process. */
    ok(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    seen = calloc((size_t)(size * WRITES), sizeof *seen);
    for (int i = 0; i < WRITES; i++) {
        if (i % 2)
            ok(MPI_File_read_shared_c(file, in, LENGTH, MPI_INT, &status));
        else {
            ok(MPI_File_iread_shared(file, in, LENGTH, MPI_INT, &request));
            ok(MPI_Wait(&request, &status));
        }
        ok(MPI_Get_count(&status, MPI_INT, &count));
        check(count == LENGTH && memcmp(in, in + 1, sizeof in - sizeof *in) == 0);
        if (in[0] >= 0 && in[0] < size * WRITES)
            seen[in[0]]++;
    }
    MPI_Allreduce(MPI_IN_PLACE, seen, size * WRITES, MPI_INT, MPI_SUM, world);
    for (int i = 0; i < size * WRITES; i++)
        check_equal(seen[i], 1);
    free(seen);
    /* No data is behind them. */
    ok(MPI_File_read_shared(file, in, 1, MPI_INT, &status));
    ok(MPI_Get_count(&status, MPI_INT, &count));
    check_equal(count, 0);
    MPI_Barrier(world);

    /* In the order of ranks, each with its own length. */
    ok(MPI_File_set_size(file, 0));
    ok(MPI_File_seek_shared(file, 10, MPI_SEEK_SET));
    for (int k = 0; k < LENGTH; k++)
        line[k] = rank;
    ok(MPI_File_write_ordered(file, line, rank + 1, MPI_INT, &status));
    ok(MPI_Get_count(&status, MPI_INT, &count));
    check_equal(count, rank + 1);
    ok(MPI_File_write_ordered_begin(file, line, 2, MPI_INT));
    ok(MPI_File_write_ordered_end(file, line, &status));
    ok(MPI_Get_count(&status, MPI_INT, &count));
    check_equal(count, 2);
    ok(MPI_File_get_position_shared(file, &at));
    check_equal(at, 10 + size * (size + 1) / 2 + 2 * size);
    MPI_Barrier(world);
    ok(MPI_File_read_at(file, 10 + rank * (rank + 1) / 2, in, rank + 1, MPI_INT, &status));
    for (int k = 0; k <= rank; k++)
        check_equal(in[k], rank);
    ok(MPI_File_seek_shared(file, -2 * size, MPI_SEEK_CUR));
    ok(MPI_File_read_ordered(file, in, 1, MPI_INT, &status));
    check_equal(in[0], rank / 2);
    ok(MPI_File_read_ordered_begin(file, in, 1, MPI_INT));
    ok(MPI_File_read_ordered_end(file, in, MPI_STATUS_IGNORE));
    check_equal(in[0], (size + rank) / 2);
    ok(MPI_File_seek_shared(file, -1, MPI_SEEK_END));
    ok(MPI_File_get_position_shared(file, &at));
    check_equal(at, 10 + size * (size + 1) / 2 + 2 * size - 1);

    /* An error in one process does not move the pointer. */
    if (size > 1) {
        check_class(MPI_File_seek_shared(file, last, MPI_SEEK_SET), MPI_ERR_NOT_SAME);
        check_class(MPI_File_seek_shared(file, 0, last ? MPI_SEEK_SET : MPI_SEEK_CUR), MPI_ERR_NOT_SAME);
    }
    check_class(MPI_File_seek_shared(file, -1000, MPI_SEEK_CUR), MPI_ERR_ARG);
    check_class(MPI_File_write_ordered(file, line, last ? 3 : 4, MPI_BYTE, &status), MPI_ERR_TYPE);
    ok(MPI_File_get_position_shared(file, &at));
    check_equal(at, 10 + size * (size + 1) / 2 + 2 * size - 1);
    /* After a new view the pointer is at its start. */
    MPI_Barrier(world);
    ok(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    ok(MPI_File_get_position_shared(file, &at));
    check_equal(at, 0);
    ok(MPI_File_close(&file));

    /* With MPI_MODE_APPEND the pointer begins at the end. */
    const long long length = size_of(name);
    ok(MPI_File_open(world, name, MPI_MODE_WRONLY | MPI_MODE_APPEND, MPI_INFO_NULL, &file));
    ok(MPI_File_get_position_shared(file, &at));
    check_equal(at, length);
    check_class(MPI_File_read_shared(file, in, 1, MPI_INT, &status), MPI_ERR_ACCESS);
    check_class(MPI_File_read_ordered(file, in, 1, MPI_INT, &status), MPI_ERR_ACCESS);
    ok(MPI_File_close(&file));
    ok(MPI_File_open(world, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    check_class(MPI_File_write_shared(file, in, 1, MPI_INT, &status), MPI_ERR_READ_ONLY);
    ok(MPI_File_close(&file));
    remove_all(name);
    return finish();
}
