/* Data that one process writes is read by the others, by offset and by the individual file pointer; the status holds
 * the count. */
#include "file/file.h"

enum { LENGTH = 100003 };

int main(int argc, char **argv)
{
    char name[NAME];
    static unsigned char out[LENGTH], in[LENGTH + 100];
    int count = -1, ints[4] = {1, 2, 3, 4};
    MPI_Count large = -1;
    MPI_File file;
    MPI_Offset at = -1, length = -1;
    MPI_Status status;
    begin(&argc, &argv);
    name_of(name, "data");
    ok(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    fill(out, LENGTH, rank);

    /* By offset: the pointer does not move. */
    ok(MPI_File_write_at(file, (MPI_Offset)rank * LENGTH, out, LENGTH, MPI_BYTE, &status));
    ok(MPI_Get_count(&status, MPI_BYTE, &count));
    check_equal(count, LENGTH);
    ok(MPI_File_get_position(file, &at));
    check_equal(at, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int other = 0; other < size; other++) {
        memset(in, 0, LENGTH);
        ok(MPI_File_read_at(file, (MPI_Offset)other * LENGTH, in, LENGTH, MPI_BYTE, &status));
        ok(MPI_Get_count(&status, MPI_BYTE, &count));
        check_equal(count, LENGTH);
        check(filled(in, LENGTH, other));
    }
    ok(MPI_File_get_size(file, &length));
    check_equal(length, (MPI_Offset)size * LENGTH);

    /* By the individual pointer of each process. */
    ok(MPI_File_seek(file, (MPI_Offset)rank * LENGTH, MPI_SEEK_SET));
    ok(MPI_File_read(file, in, 1000, MPI_BYTE, MPI_STATUS_IGNORE));
    ok(MPI_File_read_c(file, in + 1000, LENGTH - 1000, MPI_BYTE, &status));
    ok(MPI_Get_count_c(&status, MPI_BYTE, &large));
    check_equal(large, LENGTH - 1000);
    check(filled(in, LENGTH, rank));
    ok(MPI_File_get_position(file, &at));
    check_equal(at, (MPI_Offset)(rank + 1) * LENGTH);
    MPI_Barrier(MPI_COMM_WORLD);
    ok(MPI_File_seek(file, -LENGTH, MPI_SEEK_CUR));
    memset(out, 'a' + rank, LENGTH);
    ok(MPI_File_write(file, out, 2, MPI_BYTE, &status));
    ok(MPI_File_write_all(file, out, 3, MPI_BYTE, &status));
    ok(MPI_File_get_position(file, &at));
    check_equal(at, (MPI_Offset)rank * LENGTH + 5);
    MPI_Barrier(MPI_COMM_WORLD);
    const int next = (rank + 1) % size;
    ok(MPI_File_read_at_all(file, (MPI_Offset)next * LENGTH, in, 6, MPI_BYTE, &status));
    check(in[0] == 'a' + next && in[4] == 'a' + next && in[5] == pattern(5, next));

    /* A read ends at the end of the file; the pointer is behind the data that was read. */
    ok(MPI_File_seek(file, -10, MPI_SEEK_END));
    memset(in, 0x55, sizeof in);
    ok(MPI_File_read(file, in, 5, MPI_INT, &status));
    ok(MPI_Get_count(&status, MPI_INT, &count));
    check_equal(count, MPI_UNDEFINED);
    ok(MPI_Get_count(&status, MPI_BYTE, &count));
    check_equal(count, 10);
    check(in[10] == 0x55);
    ok(MPI_File_get_position(file, &at));
    check_equal(at, length);
    ok(MPI_File_read(file, in, 5, MPI_INT, &status));
    ok(MPI_Get_count(&status, MPI_INT, &count));
    check_equal(count, 0);
    ok(MPI_Get_elements(&status, MPI_INT, &count));
    check_equal(count, 0);
    ok(MPI_File_read_at(file, length + 1000, in, 1, MPI_BYTE, &status));
    ok(MPI_Get_count(&status, MPI_BYTE, &count));
    check_equal(count, 0);
    ok(MPI_File_read_at(file, length - 8, in, 4, MPI_INT, &status));
    ok(MPI_Get_elements(&status, MPI_INT, &count));
    check_equal(count, 2);
    MPI_Barrier(MPI_COMM_WORLD);

    /* An access without data ignores the address, and the file does not grow. */
    ok(MPI_File_write_at(file, length + 5000, NULL, 0, MPI_INT, &status));
    ok(MPI_Get_count(&status, MPI_INT, &count));
    check_equal(count, 0);
    ok(MPI_File_get_size(file, &at));
    check_equal(at, length);
    MPI_Barrier(MPI_COMM_WORLD);

    /* Far beyond the end, at an offset of more than 32 bits. */
    const MPI_Offset far = ((MPI_Offset)5 << 30) + rank * 16;
    ok(MPI_File_write_at_c(file, far, ints, 4, MPI_INT, &status));
    ok(MPI_Get_count_c(&status, MPI_INT, &large));
    check_equal(large, 4);
    memset(ints, 0, sizeof ints);
    ok(MPI_File_seek(file, far, MPI_SEEK_SET));
    ok(MPI_File_read_all(file, ints, 4, MPI_INT, &status));
    check(ints[0] == 1 && ints[3] == 4);
    ok(MPI_File_get_position(file, &at));
    check_equal(at, far + 16);
    /* The gap reads as zeros. */
    ok(MPI_File_read_at(file, (MPI_Offset)3 << 30, in, 100, MPI_BYTE, &status));
    ok(MPI_Get_count(&status, MPI_BYTE, &count));
    check_equal(count, 100);
    for (int i = 0; i < 100; i++)
        check(in[i] == 0);
    ok(MPI_File_close(&file));
    remove_all(name);
    return finish();
}
