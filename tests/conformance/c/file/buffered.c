/* Collective accesses through strided views, in every form: the file has the records of all processes in turn, whatever
 * the hints for collective buffering and data sieving are; bytes that no process writes stay; a wrong argument of one
 * process is an error in all. */
#include "file/file.h"

enum { COUNT = 20000 };

static const char *keys[] = {"romio_cb_write", "romio_cb_read", "romio_ds_write",     "romio_ds_read",
                             "cb_nodes",       "cb_buffer_size", "ind_rd_buffer_size", "ind_wr_buffer_size"};

static void has_hint(MPI_File file, const char *key, const char *value)
{
    char text[MPI_MAX_INFO_VAL] = "";
    int flag = 0, length = sizeof text;
    MPI_Info info;
    ok(MPI_File_get_info(file, &info));
    ok(MPI_Info_get_string(info, key, &length, text, &flag));
    ok(MPI_Info_free(&info));
    check(flag && strcmp(text, value) == 0);
}

static int record(int part, int owner, int i)
{
    return part << 28 | owner << 24 | i;
}

/* Of each group of size + gap records, the first ones are of the processes in turn; parts follow each other. */
static void has_records(const char *name, int parts, int gap, int in_gap)
{
    int row = size + gap;
    size_t length = (size_t)parts * COUNT * row - gap;
    int *found = malloc(length * sizeof *found);
    FILE *file = fopen(name, "rb");
    check(file != NULL && fread(found, sizeof *found, length, file) == length);
    check_equal(size_of(name), length * sizeof *found);
    for (size_t at = 0; at < length; at++) {
        int part = at / row / COUNT, i = at / row % COUNT, owner = at % row;
        check_equal(found[at], owner < size ? record(part, owner, i) : in_gap);
    }
    fclose(file);
    free(found);
}

static void forms(const char *name, MPI_Info info, int gap)
{
    MPI_File file;
    MPI_Datatype one;
    MPI_Request request;
    MPI_Status status;
    MPI_Offset at = -1;
    int count = -1, *data = malloc(5 * COUNT * sizeof *data), *back = malloc(COUNT * sizeof *back);
    const int old = 0x5a5a5a5a;
    if (rank == 0) {
        size_t length = 5 * (size_t)COUNT * (size + gap) - gap;
        int *before = malloc(length * sizeof *before);
        for (size_t i = 0; i < length; i++)
            before[i] = old;
        make(name, before, length * sizeof *before);
        free(before);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int part = 0; part < 5; part++)
        for (int i = 0; i < COUNT; i++)
            data[part * COUNT + i] = record(part, rank, i);
    ok(MPI_Type_create_resized(MPI_INT, 0, (size + gap) * sizeof(int), &one));
    ok(MPI_Type_commit(&one));
    ok(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, info, &file));
    ok(MPI_File_set_view(file, rank * sizeof(int), MPI_INT, one, "native", MPI_INFO_NULL));
    ok(MPI_File_write_all(file, data, COUNT, MPI_INT, &status));
    ok(MPI_Get_count(&status, MPI_INT, &count));
    check_equal(count, COUNT);
    ok(MPI_File_get_position(file, &at));
    check_equal(at, COUNT);
    ok(MPI_File_write_at_all(file, COUNT, data + COUNT, COUNT, MPI_INT, &status));
    ok(MPI_File_write_at_all_begin(file, 2 * COUNT, data + 2 * COUNT, COUNT, MPI_INT));
    ok(MPI_File_write_at_all_end(file, data + 2 * COUNT, &status));
    ok(MPI_Get_count(&status, MPI_INT, &count));
    check_equal(count, COUNT);
    ok(MPI_File_iwrite_at_all(file, 3 * COUNT, data + 3 * COUNT, COUNT, MPI_INT, &request));
    ok(MPI_Wait(&request, &status));
    ok(MPI_File_seek(file, 4 * COUNT, MPI_SEEK_SET));
    ok(MPI_File_write_all_begin(file, data + 4 * COUNT, COUNT, MPI_INT));
    ok(MPI_File_write_all_end(file, data + 4 * COUNT, &status));
    ok(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    has_records(name, 5, gap, old);

    ok(MPI_File_seek(file, 0, MPI_SEEK_SET));
    ok(MPI_File_read_all(file, back, COUNT, MPI_INT, &status));
    check(memcmp(back, data, COUNT * sizeof *back) == 0);
    ok(MPI_File_read_all_begin(file, back, COUNT, MPI_INT));
    ok(MPI_File_read_all_end(file, back, &status));
    check(memcmp(back, data + COUNT, COUNT * sizeof *back) == 0);
    ok(MPI_File_read_at_all_begin(file, 2 * COUNT, back, COUNT, MPI_INT));
    ok(MPI_File_read_at_all_end(file, back, &status));
    check(memcmp(back, data + 2 * COUNT, COUNT * sizeof *back) == 0);
    ok(MPI_File_iread_at_all(file, 3 * COUNT, back, COUNT, MPI_INT, &request));
    ok(MPI_Wait(&request, &status));
    check(memcmp(back, data + 3 * COUNT, COUNT * sizeof *back) == 0);
    /* The file ends in the middle. */
    ok(MPI_File_read_at_all(file, 5 * COUNT - 7, back, COUNT, MPI_INT, &status));
    ok(MPI_Get_count(&status, MPI_INT, &count));
    check_equal(count, 7);
    check(memcmp(back, data + 5 * COUNT - 7, 7 * sizeof *back) == 0);
    /* Some processes have no data. */
    ok(MPI_File_read_at_all(file, 0, back, rank % 2 ? 0 : COUNT, MPI_INT, &status));
    ok(MPI_Get_count(&status, MPI_INT, &count));
    check_equal(count, rank % 2 ? 0 : COUNT);
    ok(MPI_Type_free(&one));
    ok(MPI_File_close(&file));
    remove_all(name);
    free(data);
    free(back);
}

/* One process passes a wrong argument. */
static void one_wrong(const char *name)
{
    MPI_File file;
    MPI_Datatype one;
    MPI_Offset at = -1;
    int data[10] = {0}, last = rank == size - 1;
    ok(MPI_Type_create_resized(MPI_INT, 0, size * sizeof(int), &one));
    ok(MPI_Type_commit(&one));
    ok(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    ok(MPI_File_set_view(file, rank * sizeof(int), MPI_INT, size > 1 ? one : MPI_INT, "native", MPI_INFO_NULL));
    check_class(MPI_File_write_all(file, data, last ? -1 : 10, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    check_class(MPI_File_write_at_all(file, last ? -1 : 0, data, 10, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    check_class(MPI_File_read_all(file, data, 10, last ? MPI_DATATYPE_NULL : MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    check_class(MPI_File_read_at_all_begin(file, 0, data, last ? -1 : 10, MPI_INT), MPI_ERR_COUNT);
    check_class(MPI_File_write_all_begin(file, last ? NULL : data, 10, MPI_INT), MPI_ERR_BUFFER);
    check_class(MPI_File_set_info(file, last ? (MPI_Info)(size_t)0x123456789 : MPI_INFO_NULL), MPI_ERR_INFO);
    ok(MPI_File_get_position(file, &at));
    check_equal(at, 0);
    ok(MPI_File_write_all(file, data, 10, MPI_INT, MPI_STATUS_IGNORE));
    ok(MPI_Type_free(&one));
    ok(MPI_File_close(&file));
    remove_all(name);
}

int main(int argc, char **argv)
{
    static const char *values[][8] = {
        {"automatic", "automatic", "automatic", "automatic", "1", "1048576", "262144", "262144"},
        {"enable", "enable", "enable", "enable", "1", "4096", "4096", "4096"},
        {"disable", "disable", "enable", "automatic", "1", "65536", "8192", "10000"},
        {"disable", "disable", "disable", "disable", "1", "2147483647", "262144", "262144"},
    };
    char name[NAME];
    begin(&argc, &argv);
    name_of(name, "buffered");
    for (int set = 0; set < 4; set++) {
        MPI_Info info;
        MPI_File file;
        ok(MPI_Info_create(&info));
        for (int key = 0; key < 8; key++)
            ok(MPI_Info_set(info, keys[key], values[set][key]));
        forms(name, info, 0);
        forms(name, info, 1);
        const int amode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
        ok(MPI_File_open(MPI_COMM_WORLD, name, amode, info, &file));
        for (int key = 0; key < 8; key++)
            has_hint(file, keys[key], values[set][key]);
        /* Values that make no sense are ignored. */
        for (int key = 0; key < 8; key++)
            ok(MPI_Info_set(info, keys[key], "-3"));
        ok(MPI_File_set_info(file, info));
        for (int key = 0; key < 8; key++)
            has_hint(file, keys[key], values[set][key]);
        ok(MPI_File_close(&file));
        ok(MPI_Info_free(&info));
    }
    forms(name, MPI_INFO_NULL, 0);
    forms(name, MPI_INFO_NULL, 3);
    if (size > 1)
        one_wrong(name);
    return finish();
}
