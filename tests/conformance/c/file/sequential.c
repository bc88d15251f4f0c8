/* A file opened with MPI_MODE_SEQUENTIAL takes no offsets; it is accessed by the shared file pointer, and may be a
 * pipe. */
#include "file/file.h"

/* Through a pipe, in the order of ranks, from the first half of the processes to the others. */
static void through_a_pipe(const char *name)
{
    enum { LENGTH = 100000 };
    static unsigned char data[LENGTH];
    int count = -1;
    MPI_Comm half;
    MPI_File file;
    MPI_Status status;
    const int writes = rank < size / 2, of_half = rank % (size / 2);
    MPI_Comm_split(MPI_COMM_WORLD, writes, rank, &half);
    if (rank == 0)
        check_equal(mkfifo(name, 0600), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    ok(MPI_File_open(half, name, MPI_MODE_SEQUENTIAL | (writes ? MPI_MODE_WRONLY : MPI_MODE_RDONLY), MPI_INFO_NULL,
                     &file));
    if (writes) {
        fill(data, LENGTH, of_half);
        ok(MPI_File_write_ordered(file, data, LENGTH, MPI_BYTE, &status));
    } else {
        ok(MPI_File_read_ordered(file, data, LENGTH, MPI_BYTE, &status));
        check(filled(data, LENGTH, of_half));
    }
    ok(MPI_Get_count(&status, MPI_BYTE, &count));
    check_equal(count, LENGTH);
    ok(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    /* Without writers a read ends; a write without readers is an error, not a signal. */
    if (writes)
        ok(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    if (!writes) {
        ok(MPI_File_read_shared(file, data, 1, MPI_BYTE, &status));
        ok(MPI_Get_count(&status, MPI_BYTE, &count));
        check_equal(count, 0);
        ok(MPI_File_close(&file));
    }
    MPI_Comm_free(&half);
    if (rank == 0)
        unlink(name);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each view starts at the shared file pointer of the previous view, whose etypes may have another size. */
static void views_follow_each_other(const char *name)
{
    enum { COUNT = 64 };
    unsigned char bytes[8 * COUNT], in[8];
    MPI_File file;
    MPI_Offset start = -1;
    MPI_Datatype etype, filetype;
    char representation[MPI_MAX_DATAREP_STRING];
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        fill(bytes, sizeof bytes, 1);
        make(name, bytes, sizeof bytes);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    fill(bytes, sizeof bytes, 1);
    ok(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &file));
    ok(MPI_File_read_ordered(file, in, 3, MPI_BYTE, MPI_STATUS_IGNORE));
    check(memcmp(in, bytes + 3 * rank, 3) == 0);
    int from = 3 * size;
    ok(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    ok(MPI_File_read_ordered(file, in, 2, MPI_INT, MPI_STATUS_IGNORE));
    check(memcmp(in, bytes + from + 8 * rank, 8) == 0);
    from += 8 * size;
    /* The filetype has a gap of two bytes behind the first two. */
    ok(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_SHORT, MPI_SHORT_INT, "native", MPI_INFO_NULL));
    ok(MPI_File_get_view(file, &start, &etype, &filetype, representation));
    check_equal(start, from);
    ok(MPI_File_read_ordered(file, in, 3, MPI_SHORT, MPI_STATUS_IGNORE));
    check(memcmp(in, bytes + from + 8 * rank, 2) == 0 && memcmp(in + 2, bytes + from + 8 * rank + 4, 4) == 0);
    ok(MPI_File_close(&file));
    remove_all(name);
}

/* A pipe without a reader. */
static void broken_pipe(const char *name)
{
    MPI_File file;
    check_equal(mkfifo(name, 0600), 0);
    int reader = open(name, O_RDONLY | O_NONBLOCK);
    ok(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_SEQUENTIAL | MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    ok(MPI_File_write_shared(file, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE));
    close(reader);
    int code = MPI_File_write_shared(file, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE);
    check_class(code, MPI_ERR_IO);
    check(has(code, "EPIPE"));
    ok(MPI_File_close(&file));
    unlink(name);
}

int main(int argc, char **argv)
{
    char name[NAME], data[8] = "abc";
    int count = -1;
    MPI_File file;
    MPI_Offset at = -1;
    MPI_Status status;
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
    check_class(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    check_class(MPI_File_get_position_shared(file, &at), MPI_ERR_UNSUPPORTED_OPERATION);
    check_class(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    ok(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
    ok(MPI_File_write_shared(file, data, 3, MPI_CHAR, &status));
    MPI_Barrier(MPI_COMM_WORLD);
    check_equal(size_of(name), 3 * size);
    MPI_Barrier(MPI_COMM_WORLD);
    /* The new view starts at the shared file pointer, and writing continues there. */
    ok(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    ok(MPI_File_write_ordered(file, data, 1, MPI_CHAR, &status));
    ok(MPI_Get_count(&status, MPI_CHAR, &count));
    check_equal(count, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    check_equal(size_of(name), 4 * size);
    ok(MPI_File_close(&file));
    check(!exists(name));
    views_follow_each_other(name);
    /* With an argument there are files only: processes of several hosts have no pipe in common. */
    if (size % 2 == 0 && argc == 1)
        through_a_pipe(name);
    name[strlen(name) - 1] = (char)('a' + rank);
    broken_pipe(name);
    return finish();
}
