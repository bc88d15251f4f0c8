/* A view with "external32": the file has the elements with the most significant byte first, in the sizes of the
 * standard's table, whatever call writes them and however they lie in memory; reads convert them back. */
#include "file/file.h"

#include <stddef.h>
#include <stdint.h>

enum { MANY = 30000 };

/* Stores a number with its most significant byte first. */
static unsigned char *put(unsigned char *at, unsigned long long value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = value >> (8 * (bytes - 1 - i)) & 0xff;
    return at + bytes;
}

/* The file has these bytes from a place on. */
static void holds(const char *name, long place, const unsigned char *expected, size_t length)
{
    unsigned char *found = calloc(length + 1, 1);
    FILE *file = fopen(name, "rb");
    check(file != NULL && fseek(file, place, SEEK_SET) == 0 && fread(found, 1, length, file) == length);
    if (file)
        fclose(file);
    size_t at = 0;
    while (at < length && found[at] == expected[at])
        at++;
    check_equal(at, length);
    free(found);
}

static void set_view(MPI_File file, MPI_Offset place, MPI_Datatype etype, MPI_Datatype filetype)
{
    ok(MPI_File_set_view(file, place, etype, filetype, "external32", MPI_INFO_NULL));
}

/* Longs of all processes in turn, from memory with gaps: each has 4 bytes in the file. */
static void interleaved(MPI_File file, const char *name)
{
    MPI_Datatype one, mine, sparse;
    ok(MPI_Type_vector(1, 1, size, MPI_LONG, &one));
    ok(MPI_Type_create_resized(one, 0, 4 * size, &mine));
    ok(MPI_Type_vector(MANY, 1, 3, MPI_LONG, &sparse));
    ok(MPI_Type_commit(&mine));
    ok(MPI_Type_commit(&sparse));
    long *data = malloc(3 * MANY * sizeof *data), *back = malloc(MANY * sizeof *back);
    for (int i = 0; i < 3 * MANY; i++)
        data[i] = i % 3 ? 77 : i / 3 * 5L - 40000 + rank;
    set_view(file, 4 * rank, MPI_LONG, mine);
    MPI_Status status;
    MPI_Offset at = -1;
    int count = -1;
    ok(MPI_File_write_all(file, data, 1, sparse, &status));
    ok(MPI_Get_count(&status, MPI_LONG, &count));
    check_equal(count, MANY);
    ok(MPI_File_get_position(file, &at));
    check_equal(at, MANY);
    ok(MPI_File_get_byte_offset(file, 7, &at));
    check_equal(at, 4 * rank + 7 * 4 * size);
    ok(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    unsigned char *expected = malloc(4 * (size_t)MANY * size), *end = expected;
    for (int i = 0; i < MANY; i++)
        for (int each = 0; each < size; each++)
            end = put(end, (unsigned long long)(i * 5L - 40000 + each), 4);
    holds(name, 0, expected, end - expected);
    check_equal(size_of(name), end - expected);

    /* Back in every way, from the middle too. */
    MPI_Request request;
    ok(MPI_File_read_at_all(file, 0, back, MANY, MPI_LONG, &status));
    for (int i = 0; i < MANY; i++)
        check(back[i] == i * 5L - 40000 + rank);
    memset(data, 0x55, 3 * MANY * sizeof *data);
    ok(MPI_File_iread_at(file, 0, data, 1, sparse, &request));
    ok(MPI_Wait(&request, &status));
    long gap;
    memset(&gap, 0x55, sizeof gap);
    for (int i = 0; i < 3 * MANY - 2; i++)
        check(data[i] == (i % 3 ? gap : i / 3 * 5L - 40000 + rank));
    ok(MPI_File_seek(file, MANY - 11, MPI_SEEK_SET));
    ok(MPI_File_read_all_begin(file, back, 20, MPI_LONG));
    ok(MPI_File_read_all_end(file, back, &status));
    ok(MPI_Get_count(&status, MPI_LONG, &count));
    check_equal(count, 11);
    check(back[0] == (MANY - 11) * 5L - 40000 + rank && back[10] == (MANY - 1) * 5L - 40000 + rank);
    ok(MPI_Type_free(&one));
    ok(MPI_Type_free(&mine));
    ok(MPI_Type_free(&sparse));
    free(data);
    free(back);
    free(expected);
}

struct mixed {
    signed char letter;
    double number;
    short pair[2];
    long whole;
    float half;
};

/* Structs with elements of several sizes, whose gaps are not in the file. */
static void structs(MPI_File file, const char *name)
{
    enum { COUNT = 5000, BYTES = 1 + 8 + 2 * 2 + 4 + 4 };
    struct mixed *data = malloc(COUNT * sizeof *data), *back = calloc(COUNT, sizeof *back);
    int lengths[5] = {1, 1, 2, 1, 1};
    MPI_Aint places[5] = {offsetof(struct mixed, letter), offsetof(struct mixed, number), offsetof(struct mixed, pair),
                          offsetof(struct mixed, whole), offsetof(struct mixed, half)};
    MPI_Aint packed[5] = {0, 1, 9, 13, 17}, extent = -1;
    MPI_Datatype types[5] = {MPI_SIGNED_CHAR, MPI_DOUBLE, MPI_SHORT, MPI_LONG, MPI_FLOAT}, some, memory, etype;
    ok(MPI_Type_create_struct(5, lengths, places, types, &some));
    ok(MPI_Type_create_resized(some, 0, sizeof(struct mixed), &memory));
    ok(MPI_Type_create_struct(5, lengths, packed, types, &etype));
    ok(MPI_Type_commit(&memory));
    ok(MPI_Type_commit(&etype));
    unsigned char *expected = malloc(COUNT * BYTES), *end = expected;
    for (int i = 0; i < COUNT; i++) {
        data[i] = (struct mixed){i % 100 - 50, i * 0.75 - rank, {-i, i}, -i - 100000, i * 2.5f};
        uint64_t number;
        uint32_t half;
        memcpy(&number, &data[i].number, 8);
        memcpy(&half, &data[i].half, 4);
        end = put(end, (unsigned long long)data[i].letter, 1);
        end = put(end, number, 8);
        end = put(put(end, (unsigned long long)data[i].pair[0], 2), (unsigned long long)data[i].pair[1], 2);
        end = put(put(end, (unsigned long long)data[i].whole, 4), half, 4);
    }
    MPI_Offset start = 100 + (MPI_Offset)rank * COUNT * BYTES, at = -1;
    set_view(file, start, etype, etype);
    ok(MPI_File_get_type_extent(file, etype, &extent));
    check_equal(extent, BYTES);
    MPI_Status status;
    MPI_Request request;
    ok(MPI_File_write(file, data, 7, memory, &status));
    ok(MPI_File_iwrite(file, data + 7, COUNT - 7, memory, &request));
    ok(MPI_Wait(&request, &status));
    ok(MPI_File_get_position(file, &at));
    check_equal(at, COUNT);
    ok(MPI_File_sync(file));
    holds(name, start, expected, end - expected);
    ok(MPI_File_read_at(file, 0, back, COUNT, memory, &status));
    for (int i = 0; i < COUNT; i++)
        check(back[i].letter == data[i].letter && back[i].number == data[i].number && back[i].half == data[i].half &&
              back[i].pair[0] == data[i].pair[0] && back[i].pair[1] == data[i].pair[1] &&
              back[i].whole == data[i].whole);
    ok(MPI_Type_free(&some));
    ok(MPI_Type_free(&memory));
    ok(MPI_Type_free(&etype));
    free(data);
    free(back);
    free(expected);
}

/* Accesses at the shared file pointer count etypes of the file. */
static void shared(MPI_File file, const char *name)
{
    long data[3] = {rank * 10, rank * 10 + 1, -rank}, back[3] = {0};
    unsigned char expected[3 * 4 * 64], *end = expected;
    MPI_Status status;
    MPI_Offset at = -1;
    set_view(file, 8, MPI_LONG, MPI_LONG);
    ok(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    ok(MPI_File_write_ordered(file, data, 3, MPI_LONG, &status));
    ok(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    ok(MPI_File_get_position_shared(file, &at));
    check_equal(at, 3 * size);
    for (int each = 0; each < size && each < 64; each++)
        end = put(put(put(end, each * 10, 4), each * 10 + 1, 4), (unsigned long long)-each, 4);
    holds(name, 8, expected, end - expected);
    MPI_Barrier(MPI_COMM_WORLD);
    ok(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    ok(MPI_File_read_ordered(file, back, 3, MPI_LONG, &status));
    check(back[0] == rank * 10 && back[1] == rank * 10 + 1 && back[2] == -rank);
}

/* Extents, the bytes of other types, the name, and a file that ends within an element. */
static void details(MPI_File file, const char *name)
{
    char datarep[MPI_MAX_DATAREP_STRING] = "";
    MPI_Aint extent = -1;
    MPI_Count large = -1;
    MPI_Offset place = -1;
    MPI_Datatype rows, etype, filetype;
    MPI_Status status;
    int count = -1;
    ok(MPI_Type_vector(3, 1, 2, MPI_LONG, &rows));
    struct {
        MPI_Datatype type;
        int extent;
    } cases[] = {{MPI_LONG, 4}, {MPI_LONG_LONG, 8}, {MPI_LONG_DOUBLE, 16}, {MPI_WCHAR, 2}, {MPI_BYTE, 1},
                 {MPI_DOUBLE_INT, 12}, {MPI_C_DOUBLE_COMPLEX, 16}, {rows, 20}};
    set_view(file, 0, MPI_BYTE, MPI_BYTE);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ok(MPI_File_get_type_extent(file, cases[i].type, &extent));
        check_equal(extent, cases[i].extent);
        ok(MPI_File_get_type_extent_c(file, cases[i].type, &large));
        check_equal(large, cases[i].extent);
    }
    ok(MPI_File_get_view(file, &place, &etype, &filetype, datarep));
    check(strcmp(datarep, "external32") == 0 && etype == MPI_BYTE && filetype == MPI_BYTE);
    ok(MPI_Type_free(&rows));

    /* A view of bytes takes any type. */
    long double numbers[2] = {1, -2.5L}, again[2] = {0};
    unsigned char expected[32] = {0x3f, 0xff};
    expected[16] = 0xc0, expected[17] = 0x00, expected[18] = 0x40;
    if (rank == 0) {
        ok(MPI_File_write_at(file, 3, numbers, 2, MPI_LONG_DOUBLE, &status));
        ok(MPI_Get_count(&status, MPI_LONG_DOUBLE, &count));
        check_equal(count, 2);
        ok(MPI_File_sync(file));
        holds(name, 3, expected, sizeof expected);
        ok(MPI_File_read_at(file, 3, again, 2, MPI_LONG_DOUBLE, &status));
        check(again[0] == 1 && again[1] == -2.5L);
    }
    MPI_Barrier(MPI_COMM_WORLD);

    /* 10 bytes are two ints and a half. */
    int ints[4] = {-1, -1, -1, -1};
    ok(MPI_File_set_size(file, 10));
    set_view(file, 0, MPI_INT, MPI_INT);
    ok(MPI_File_read(file, ints, 4, MPI_INT, &status));
    ok(MPI_Get_count(&status, MPI_INT, &count));
    check_equal(count, 2);
    check(ints[2] == -1 && ints[3] == -1);
    ok(MPI_File_get_position(file, &place));
    check_equal(place, 3);
    check_class(MPI_File_write_at(file, 0, ints, 3, MPI_SHORT, &status), MPI_ERR_TYPE);

    /* The native representation and the internal one store what is in memory. */
    ok(MPI_File_set_view(file, 0, MPI_LONG, MPI_LONG, "internal", MPI_INFO_NULL));
    ok(MPI_File_get_type_extent(file, MPI_LONG, &extent));
    check_equal(extent, sizeof(long));
    long own = 0x0102030405060708;
    ok(MPI_File_write_at(file, 0, &own, 1, MPI_LONG, &status));
    ok(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    holds(name, 0, (unsigned char *)&own, sizeof own);
    MPI_Barrier(MPI_COMM_WORLD);
    check_class(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external64", MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_DATAREP);
    check_class(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, rank == size - 1 && size > 1 ? "external32" : "native",
                                  MPI_INFO_NULL),
                size > 1 ? MPI_ERR_NOT_SAME : MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    char name[NAME];
    MPI_File file;
    begin(&argc, &argv);
    name_of(name, "external32");
    ok(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    interleaved(file, name);
    MPI_Barrier(MPI_COMM_WORLD);
    structs(file, name);
    MPI_Barrier(MPI_COMM_WORLD);
    shared(file, name);
    MPI_Barrier(MPI_COMM_WORLD);
    details(file, name);
    ok(MPI_File_close(&file));
    remove_all(name);
    return finish();
}
