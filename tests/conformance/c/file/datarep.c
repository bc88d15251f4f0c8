/* MPI_Register_datarep: a view with a representation of the program stores what its functions make of the data, in the
 * sizes that its extent function returns; the functions may call MPI. */
#include "file/file.h"

enum { MANY = 20000, WIDE = 12 };

static int state = 5, extents, reads, writes, fails;

/* Ints have 12 characters in the file, all else is as in memory. */
static int file_extent(MPI_Datatype type, MPI_Aint *extent, void *extra_state)
{
    MPI_Aint lower;
    check(extra_state == &state);
    extents++;
    if (type == MPI_INT)
        *extent = WIDE;
    else
        MPI_Type_get_extent(type, &lower, extent);
    return fails ? 17 : MPI_SUCCESS;
}

/* The number of elements of the type that have so many ints, and memory for these. */
static int elements(MPI_Datatype type, MPI_Count count, int **ints)
{
    MPI_Count size;
    MPI_Type_size_c(type, &size);
    int whole = (int)((count * 4 + size - 1) / size);
    *ints = calloc(whole, size);
    return whole;
}

static int convert_write_c(void *user, MPI_Datatype type, MPI_Count count, void *file, MPI_Offset position, void *extra)
{
    int *ints, packed = 0, whole = elements(type, count, &ints);
    check(extra == &state && position == 0);
    writes++;
    ok(MPI_Pack(user, whole, type, ints, (int)count * 4, &packed, MPI_COMM_SELF));
    for (MPI_Count i = 0; i < count; i++) {
        char text[WIDE + 1];
        snprintf(text, sizeof text, "%*d", WIDE, ints[i]);
        memcpy((char *)file + i * WIDE, text, WIDE);
    }
    free(ints);
    return fails ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int convert_read_c(void *user, MPI_Datatype type, MPI_Count count, void *file, MPI_Offset position, void *extra)
{
    int *ints, packed = 0, whole = elements(type, count, &ints);
    MPI_Count size;
    check(extra == &state && position == 0);
    reads++;
    MPI_Type_size_c(type, &size);
    /* What is behind the data stays. */
    ok(MPI_Pack(user, whole, type, ints, (int)(whole * size), &packed, MPI_COMM_SELF));
    for (MPI_Count i = 0; i < count; i++) {
        char text[WIDE + 1] = "";
        memcpy(text, (char *)file + i * WIDE, WIDE);
        ints[i] = atoi(text);
    }
    packed = 0;
    ok(MPI_Unpack(ints, (int)(whole * size), &packed, user, whole, type, MPI_COMM_SELF));
    free(ints);
    return fails ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int convert_write(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *extra)
{
    return convert_write_c(user, type, count, file, position, extra);
}

static int convert_read(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *extra)
{
    return convert_read_c(user, type, count, file, position, extra);
}

static void text_is(const char *name, long place, int first, int step, int count)
{
    FILE *file = fopen(name, "rb");
    check(file != NULL && fseek(file, place, SEEK_SET) == 0);
    for (int i = 0; i < count; i++) {
        char found[WIDE + 1] = "", expected[WIDE + 1];
        snprintf(expected, sizeof expected, "%*d", WIDE, first + i * step);
        check(fread(found, 1, WIDE, file) == WIDE && strcmp(found, expected) == 0);
    }
    fclose(file);
}

static void texts(const char *name, const char *datarep)
{
    MPI_File file;
    MPI_Status status;
    MPI_Request request;
    MPI_Offset at = -1, start = (MPI_Offset)rank * MANY * WIDE;
    MPI_Datatype sparse, rows, etype, filetype;
    MPI_Aint extent = -1;
    char found[MPI_MAX_DATAREP_STRING] = "";
    int *data = malloc(2 * MANY * sizeof *data), *back = calloc(2 * MANY, sizeof *back), count = -1;
    for (int i = 0; i < 2 * MANY; i++)
        data[i] = i % 2 ? -7 : rank * 1000 - i / 2;
    ok(MPI_Type_vector(MANY / 10, 1, 2, MPI_INT, &rows));
    ok(MPI_Type_create_resized(rows, 0, MANY / 10 * 8, &sparse));
    ok(MPI_Type_commit(&sparse));
    ok(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    ok(MPI_File_set_view(file, start, MPI_INT, MPI_INT, datarep, MPI_INFO_NULL));
    ok(MPI_File_get_view(file, &at, &etype, &filetype, found));
    check(at == start && etype == MPI_INT && filetype == MPI_INT && strcmp(found, datarep) == 0);
    ok(MPI_File_get_type_extent(file, MPI_INT, &extent));
    check_equal(extent, WIDE);
    ok(MPI_File_get_type_extent(file, rows, &extent));
    check_equal(extent, (2 * (MANY / 10 - 1) + 1) * WIDE);
    check(extents > 0);

    writes = reads = 0;
    ok(MPI_File_write_all(file, data, 10, sparse, &status));
    ok(MPI_Get_count(&status, MPI_INT, &count));
    check_equal(count, MANY);
    ok(MPI_File_get_position(file, &at));
    check_equal(at, MANY);
    ok(MPI_File_sync(file));
    text_is(name, start, rank * 1000, -1, MANY);
    ok(MPI_File_iread_at(file, 0, back, MANY, MPI_INT, &request));
    ok(MPI_Wait(&request, &status));
    for (int i = 0; i < MANY; i++)
        check(back[i] == rank * 1000 - i);
    memset(back, 0x11, 2 * MANY * sizeof *back);
    ok(MPI_File_read_at(file, 0, back, 10, sparse, &status));
    for (int i = 0; i < 2 * MANY; i++)
        check(back[i] == (i % 2 ? 0x11111111 : rank * 1000 - i / 2));
    check(writes > 0 && reads > 0);

    /* A shared pointer, and a file that ends early. */
    MPI_Barrier(MPI_COMM_WORLD);
    ok(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, datarep, MPI_INFO_NULL));
    ok(MPI_File_write_ordered(file, &rank, 1, MPI_INT, &status));
    ok(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    text_is(name, 0, 0, 1, size);
    MPI_Barrier(MPI_COMM_WORLD);
    ok(MPI_File_set_size(file, size * WIDE));
    memset(back, 0x11, 2 * MANY * sizeof *back);
    ok(MPI_File_read_at(file, 0, back, 1, sparse, &status));
    ok(MPI_Get_elements(&status, sparse, &count));
    check_equal(count, size);
    for (int i = 0; i < size; i++)
        check(back[2 * i] == i && back[2 * i + 1] == 0x11111111);

    /* A function's error is one of the access. */
    fails = 1;
    check_class(MPI_File_write_at(file, 0, data, 1, MPI_INT, &status), MPI_ERR_CONVERSION);
    check_class(MPI_File_read_at(file, 0, back, 1, MPI_INT, &status), MPI_ERR_CONVERSION);
    check_class(MPI_File_get_type_extent(file, MPI_INT, &extent), MPI_ERR_CONVERSION);
    check_class(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, datarep, MPI_INFO_NULL), MPI_ERR_CONVERSION);
    fails = 0;
    ok(MPI_Type_free(&rows));
    ok(MPI_Type_free(&sparse));
    ok(MPI_File_close(&file));
    remove_all(name);
    free(data);
    free(back);
}

static int same_extent(MPI_Datatype type, MPI_Aint *extent, void *extra_state)
{
    MPI_Aint lower;
    (void)extra_state;
    return MPI_Type_get_extent(type, &lower, extent);
}

int main(int argc, char **argv)
{
    char name[NAME], text[MPI_MAX_DATAREP_STRING + 2];
    MPI_File file;
    MPI_Status status;
    int value = 0x01020304, back = 0;
    begin(&argc, &argv);
    name_of(name, "datarep");
    ok(MPI_Register_datarep("text", convert_read, convert_write, file_extent, &state));
    ok(MPI_Register_datarep_c("large text", convert_read_c, convert_write_c, file_extent, &state));
    ok(MPI_Register_datarep("plain", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, same_extent, NULL));
    ok(MPI_Register_datarep_c("wrong", MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C, file_extent, &state));
    check_class(MPI_Register_datarep("text", convert_read, convert_write, file_extent, &state), MPI_ERR_DUP_DATAREP);
    for (int i = 0; i < 3; i++) {
        const char *names[] = {"native", "internal", "external32"};
        check_class(MPI_Register_datarep(names[i], convert_read, convert_write, file_extent, &state),
                    MPI_ERR_DUP_DATAREP);
    }
    memset(text, 'x', sizeof text);
    text[MPI_MAX_DATAREP_STRING] = '\0';
    check_class(MPI_Register_datarep(text, convert_read, convert_write, file_extent, &state), MPI_ERR_ARG);
    texts(name, "text");
    texts(name, "large text");

    ok(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    check_class(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "other", MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_DATAREP);
    ok(MPI_File_set_view(file, 4 * rank, MPI_INT, MPI_INT, "plain", MPI_INFO_NULL));
    ok(MPI_File_write_at(file, 0, &value, 1, MPI_INT, &status));
    ok(MPI_File_set_view(file, 4 * rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    ok(MPI_File_read_at(file, 0, &back, 1, MPI_INT, &status));
    check_equal(back, value);
    /* Without a function the sizes have to be those of memory. */
    ok(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "wrong", MPI_INFO_NULL));
    check_class(MPI_File_write_at(file, 0, &value, 1, MPI_INT, &status), MPI_ERR_CONVERSION);
    ok(MPI_File_close(&file));
    remove_all(name);
    return finish();
}
