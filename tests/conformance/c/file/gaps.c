/* Elements with gaps in memory have none in the file; a read stores nothing into the gaps, wherever it ends. */
#include "file/file.h"

enum { COUNT = 20001 };

struct pair {
    double value;
    int index;
};

int main(int argc, char **argv)
{
    char name[NAME];
    static struct pair out[COUNT], in[COUNT];
    static unsigned char packed[COUNT * 12];
    int count = -1, elements = -1;
    MPI_File file;
    MPI_Offset length = -1;
    MPI_Status status;
    begin(&argc, &argv);
    name_of(name, "gaps");
    ok(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    for (int i = 0; i < COUNT; i++) {
        memset(&out[i], 0xee, sizeof out[i]);
        out[i].value = i * 0.5 + rank;
        out[i].index = i - rank;
    }
    const MPI_Offset start = (MPI_Offset)rank * sizeof packed;
    ok(MPI_File_write_at(file, start, out, COUNT, MPI_DOUBLE_INT, &status));
    ok(MPI_Get_count(&status, MPI_DOUBLE_INT, &count));
    check_equal(count, COUNT);
    ok(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    ok(MPI_File_get_size(file, &length));
    check_equal(length, (MPI_Offset)size * sizeof packed);

    ok(MPI_File_read_at(file, start, packed, sizeof packed, MPI_BYTE, &status));
    for (int i = 0; i < COUNT; i++)
        check(memcmp(packed + 12 * i, &out[i].value, 8) == 0 && memcmp(packed + 12 * i + 8, &out[i].index, 4) == 0);

    memset(in, 0x11, sizeof in);
    ok(MPI_File_seek(file, start, MPI_SEEK_SET));
    ok(MPI_File_read(file, in, COUNT, MPI_DOUBLE_INT, &status));
    ok(MPI_Get_count(&status, MPI_DOUBLE_INT, &count));
    check_equal(count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        const unsigned char *bytes = (const unsigned char *)&in[i];
        check(in[i].value == out[i].value && in[i].index == out[i].index);
        check(bytes[12] == 0x11 && bytes[15] == 0x11);
    }

    /* A read that ends within a pair, behind its double. */
    memset(in, 0x11, sizeof in);
    ok(MPI_File_read_at(file, length - 20, in, 4, MPI_DOUBLE_INT, &status));
    ok(MPI_Get_count(&status, MPI_DOUBLE_INT, &count));
    check_equal(count, MPI_UNDEFINED);
    ok(MPI_Get_elements(&status, MPI_DOUBLE_INT, &elements));
    check_equal(elements, 3);
    ok(MPI_Get_count(&status, MPI_BYTE, &count));
    check_equal(count, 20);
    check(((unsigned char *)&in[1])[8] == 0x11 && ((unsigned char *)&in[1])[7] != 0x11);
    ok(MPI_File_close(&file));
    remove_all(name);
    return finish();
}
