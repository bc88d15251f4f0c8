/* Every form of data access, in every representation: native, internal, external32, and two that the program registers,
 * one with longer elements. The bytes of the file are those of the representation, and every form reads them back. */
#include "file/file.h"

#include <stdint.h>

enum { COUNT = 5000 };

enum form { AT, AT_ALL, IAT, IAT_ALL, SPLIT_AT, POINTER, ALL, I, IALL, SPLIT, SHARED, ISHARED, ORDERED, SPLIT_ORDERED };
enum { FORMS = SPLIT_ORDERED + 1 };

struct representation {
    const char *name;
    /* Bytes of an int in the file. */
    int wide;
};

static const struct representation all[] = {
    {"native", 4}, {"internal", 4}, {"external32", 4}, {"masked", 4}, {"wide", 8},
};

/* An int as the representation stores it. */
static void stored(const struct representation *representation, int value, unsigned char *out)
{
    uint32_t bits = (uint32_t)value;
    if (strcmp(representation->name, "masked") == 0)
        bits ^= 0xa5c396e1;
    if (strcmp(representation->name, "external32") == 0) {
        for (int i = 0; i < 4; i++)
            out[i] = bits >> (24 - 8 * i) & 0xff;
    } else if (representation->wide == 8) {
        memset(out, 0x7e, 4);
        memcpy(out + 4, &bits, 4);
    } else {
        memcpy(out, &bits, 4);
    }
}

static int extent(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    int size;
    (void)extra;
    MPI_Type_size(type, &size);
    *extent = extra == (void *)&all[4] && type == MPI_INT ? 8 : size;
    return MPI_SUCCESS;
}

static int to_file(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *extra)
{
    const struct representation *representation = extra;
    (void)type;
    (void)position;
    for (int i = 0; i < count; i++)
        stored(representation, ((int *)user)[i], (unsigned char *)file + (size_t)i * representation->wide);
    return MPI_SUCCESS;
}

static int from_file(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *extra)
{
    const struct representation *representation = extra;
    (void)type;
    (void)position;
    for (int i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, (char *)file + (size_t)i * representation->wide + representation->wide - 4, 4);
        if (representation->wide == 4)
            bits ^= 0xa5c396e1;
        memcpy((int *)user + i, &bits, 4);
    }
    return MPI_SUCCESS;
}

static MPI_Status status;
static MPI_Request request;

static void write_by(MPI_File file, enum form form, MPI_Offset at, const int *data)
{
    if (form == AT) {
        ok(MPI_File_write_at(file, at, data, COUNT, MPI_INT, &status));
    } else if (form == AT_ALL) {
        ok(MPI_File_write_at_all(file, at, data, COUNT, MPI_INT, &status));
    } else if (form == IAT) {
        ok(MPI_File_iwrite_at(file, at, data, COUNT, MPI_INT, &request));
    } else if (form == IAT_ALL) {
        ok(MPI_File_iwrite_at_all(file, at, data, COUNT, MPI_INT, &request));
    } else if (form == SPLIT_AT) {
        ok(MPI_File_write_at_all_begin(file, at, data, COUNT, MPI_INT));
        ok(MPI_File_write_at_all_end(file, data, &status));
    } else if (form == POINTER) {
        ok(MPI_File_write(file, data, COUNT, MPI_INT, &status));
    } else if (form == ALL) {
        ok(MPI_File_write_all(file, data, COUNT, MPI_INT, &status));
    } else if (form == I) {
        ok(MPI_File_iwrite(file, data, COUNT, MPI_INT, &request));
    } else if (form == IALL) {
        ok(MPI_File_iwrite_all(file, data, COUNT, MPI_INT, &request));
    } else if (form == SPLIT) {
        ok(MPI_File_write_all_begin(file, data, COUNT, MPI_INT));
        ok(MPI_File_write_all_end(file, data, &status));
    } else if (form == SHARED) {
        ok(MPI_File_write_shared(file, data, COUNT, MPI_INT, &status));
    } else if (form == ISHARED) {
        ok(MPI_File_iwrite_shared(file, data, COUNT, MPI_INT, &request));
    } else if (form == ORDERED) {
        ok(MPI_File_write_ordered(file, data, COUNT, MPI_INT, &status));
    } else {
        ok(MPI_File_write_ordered_begin(file, data, COUNT, MPI_INT));
        ok(MPI_File_write_ordered_end(file, data, &status));
    }
}

static void read_by(MPI_File file, enum form form, MPI_Offset at, int *data)
{
    if (form == AT) {
        ok(MPI_File_read_at(file, at, data, COUNT, MPI_INT, &status));
    } else if (form == AT_ALL) {
        ok(MPI_File_read_at_all(file, at, data, COUNT, MPI_INT, &status));
    } else if (form == IAT) {
        ok(MPI_File_iread_at(file, at, data, COUNT, MPI_INT, &request));
    } else if (form == IAT_ALL) {
        ok(MPI_File_iread_at_all(file, at, data, COUNT, MPI_INT, &request));
    } else if (form == SPLIT_AT) {
        ok(MPI_File_read_at_all_begin(file, at, data, COUNT, MPI_INT));
        ok(MPI_File_read_at_all_end(file, data, &status));
    } else if (form == POINTER) {
        ok(MPI_File_read(file, data, COUNT, MPI_INT, &status));
    } else if (form == ALL) {
        ok(MPI_File_read_all(file, data, COUNT, MPI_INT, &status));
    } else if (form == I) {
        ok(MPI_File_iread(file, data, COUNT, MPI_INT, &request));
    } else if (form == IALL) {
        ok(MPI_File_iread_all(file, data, COUNT, MPI_INT, &request));
    } else if (form == SPLIT) {
        ok(MPI_File_read_all_begin(file, data, COUNT, MPI_INT));
        ok(MPI_File_read_all_end(file, data, &status));
    } else if (form == SHARED) {
        ok(MPI_File_read_shared(file, data, COUNT, MPI_INT, &status));
    } else if (form == ISHARED) {
        ok(MPI_File_iread_shared(file, data, COUNT, MPI_INT, &request));
    } else if (form == ORDERED) {
        ok(MPI_File_read_ordered(file, data, COUNT, MPI_INT, &status));
    } else {
        ok(MPI_File_read_ordered_begin(file, data, COUNT, MPI_INT));
        ok(MPI_File_read_ordered_end(file, data, &status));
    }
}

/* Completes a non-blocking access; all data were moved. */
static void complete(void)
{
    int count = -1;
    if (request != MPI_REQUEST_NULL)
        ok(MPI_Wait(&request, &status));
    ok(MPI_Get_count(&status, MPI_INT, &count));
    check_equal(count, COUNT);
}

static int value_of(int form, int owner, int i)
{
    return -(form << 24 | owner << 20 | i);
}

/* The file has the elements of all processes, interleaved or in blocks; blocks of accesses that take turns as they come
 * have no order. */
static void file_has(const char *name, const struct representation *representation, int form)
{
    FILE *file = fopen(name, "rb");
    size_t wide = representation->wide, length = (size_t)size * COUNT * wide;
    unsigned char *found = malloc(length), expected[8];
    check(file != NULL && fread(found, 1, length, file) == length);
    check_equal(size_of(name), length);
    for (int at = 0; at < size * COUNT; at++) {
        int owner = form < SHARED ? at % size : at / COUNT, i = form < SHARED ? at / size : at % COUNT;
        if (form == SHARED || form == ISHARED) {
            int candidate = 0;
            do {
                stored(representation, value_of(form, candidate, 0), expected);
            } while (memcmp(found + (size_t)owner * COUNT * wide, expected, wide) != 0 && ++candidate < size);
            owner = candidate;
        }
        stored(representation, value_of(form, owner, i), expected);
        check(memcmp(found + at * wide, expected, wide) == 0);
    }
    fclose(file);
    free(found);
}

int main(int argc, char **argv)
{
    char name[NAME];
    static int data[COUNT], back[COUNT];
    begin(&argc, &argv);
    ok(MPI_Register_datarep("masked", from_file, to_file, extent, (void *)&all[3]));
    ok(MPI_Register_datarep("wide", from_file, to_file, extent, (void *)&all[4]));
    for (int form = 0; form < FORMS; form++) {
        for (unsigned each = 0; each < sizeof all / sizeof *all; each++) {
            MPI_File file;
            MPI_Datatype mine;
            char which[64];
            snprintf(which, sizeof which, "every-%d-%u", form, each);
            name_of(name, which);
            int in_turn = form < SHARED;
            for (int i = 0; i < COUNT; i++)
                data[i] = value_of(form, rank, i);
            ok(MPI_Type_create_subarray(1, &size, (int[]){1}, &rank, MPI_ORDER_C, MPI_INT, &mine));
            ok(MPI_Type_commit(&mine));
            ok(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
            ok(MPI_File_set_view(file, 0, MPI_INT, in_turn ? mine : MPI_INT, all[each].name, MPI_INFO_NULL));
            request = MPI_REQUEST_NULL;
            write_by(file, form, 0, data);
            complete();
            ok(MPI_File_sync(file));
            MPI_Barrier(MPI_COMM_WORLD);
            file_has(name, &all[each], form);
            ok(MPI_File_seek(file, 0, MPI_SEEK_SET));
            ok(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
            read_by(file, form, 0, back);
            complete();
            /* By the shared pointer each gets the block of one process. */
            int owner = form == SHARED || form == ISHARED ? -back[0] >> 20 & 15 : rank;
            check(owner < size);
            for (int i = 0; i < COUNT; i++)
                check_equal(back[i], value_of(form, owner, i));
            ok(MPI_Type_free(&mine));
            ok(MPI_File_close(&file));
            remove_all(name);
        }
    }
    return finish();
}
