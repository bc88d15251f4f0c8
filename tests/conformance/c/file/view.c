/* A view: offsets count its etypes from its displacement on, and the gaps of its filetype are never accessed. */
#include "file/file.h"

static void view_is(MPI_File file, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char *name)
{
    char datarep[MPI_MAX_DATAREP_STRING] = "";
    MPI_Offset place = -7;
    MPI_Datatype found = MPI_DATATYPE_NULL, other = MPI_DATATYPE_NULL;
    ok(MPI_File_get_view(file, &place, &found, &other, datarep));
    check_equal(place, disp);
    check(found == etype && other == filetype && strcmp(datarep, name) == 0);
}

int main(int argc, char **argv)
{
    char name[NAME];
    int in[8], count = -1, out[8] = {10, 11, 12, 13, 14, 15, 16, 17};
    short shorts[6] = {0};
    unsigned char bytes[16];
    MPI_Aint extent = -1;
    MPI_Count large = -1;
    MPI_Datatype type, found, other;
    MPI_File file;
    MPI_Offset at = -1;
    MPI_Status status;
    char datarep[MPI_MAX_DATAREP_STRING];
    begin(&argc, &argv);
    name_of(name, "view");
    ok(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    view_is(file, 0, MPI_BYTE, MPI_BYTE, "native");
    ok(MPI_File_seek(file, 3, MPI_SEEK_SET));

    /* Each process from its own displacement; the pointer is at the start again. */
    ok(MPI_File_set_view(file, 5 + rank * 32, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    view_is(file, 5 + rank * 32, MPI_INT, MPI_INT, "native");
    ok(MPI_File_get_position(file, &at));
    check_equal(at, 0);
    ok(MPI_File_write(file, out, 3, MPI_INT, &status));
    ok(MPI_File_get_position(file, &at));
    check_equal(at, 3);
    ok(MPI_File_get_byte_offset(file, 3, &at));
    check_equal(at, 5 + rank * 32 + 12);
    ok(MPI_File_write_at(file, 3, out + 3, 5, MPI_INT, &status));
    ok(MPI_Get_count(&status, MPI_INT, &count));
    check_equal(count, 5);
    MPI_Barrier(MPI_COMM_WORLD);
    ok(MPI_File_get_size(file, &at));
    check_equal(at, 5 + size * 32);
    ok(MPI_File_seek(file, -2, MPI_SEEK_CUR));
    ok(MPI_File_read(file, in, 2, MPI_INT, &status));
    check(in[0] == 11 && in[1] == 12);
    /* The end is where the next etype would begin; a part of an etype counts as one. */
    ok(MPI_File_seek(file, 0, MPI_SEEK_END));
    ok(MPI_File_get_position(file, &at));
    check_equal(at, (size - rank) * 8);
    MPI_Barrier(MPI_COMM_WORLD);
    ok(MPI_File_set_size(file, 5 + size * 32 + 2));
    ok(MPI_File_seek(file, 0, MPI_SEEK_END));
    ok(MPI_File_get_position(file, &at));
    check_equal(at, (size - rank) * 8 + 1);
    /* A read that ends within an etype. */
    ok(MPI_File_seek(file, -2, MPI_SEEK_END));
    ok(MPI_File_read(file, in, 8, MPI_INT, &status));
    ok(MPI_Get_count(&status, MPI_BYTE, &count));
    check_equal(count, 6);
    check_equal(in[0], 17);
    ok(MPI_File_get_position(file, &at));
    check_equal(at, (size - rank) * 8 + 1);
    ok(MPI_File_get_type_extent(file, MPI_DOUBLE_INT, &extent));
    check_equal(extent, 16);
    ok(MPI_File_get_type_extent_c(file, MPI_SHORT, &large));
    check_equal(large, 2);

    /* Parts of an etype are not accessed. */
    check_class(MPI_File_write_at(file, 0, bytes, 3, MPI_BYTE, &status), MPI_ERR_TYPE);
    MPI_Barrier(MPI_COMM_WORLD);

    /* A filetype with a gap: 2 bytes, a gap of 2, 4 bytes. */
    ok(MPI_File_set_size(file, 0));
    ok(MPI_File_set_size(file, 64));
    ok(MPI_File_set_view(file, 8, MPI_SHORT, MPI_SHORT_INT, "internal", MPI_INFO_NULL));
    view_is(file, 8, MPI_SHORT, MPI_SHORT_INT, "internal");
    for (int i = 0; i < 6; i++)
        shorts[i] = (short)(0x0101 * (i + 1));
    if (rank == 0)
        ok(MPI_File_write_at(file, 1, shorts, 6, MPI_SHORT, &status));
    ok(MPI_File_get_byte_offset(file, 1, &at));
    check_equal(at, 12);
    ok(MPI_File_get_byte_offset(file, 3, &at));
    check_equal(at, 16);
    MPI_Barrier(MPI_COMM_WORLD);
    memset(shorts, 0, sizeof shorts);
    ok(MPI_File_read_at(file, 2, shorts, 3, MPI_SHORT, &status));
    check(shorts[0] == 0x0202 && shorts[1] == 0x0303 && shorts[2] == 0x0404);
    ok(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    ok(MPI_File_read_at(file, 8, bytes, 16, MPI_BYTE, &status));
    const unsigned char expected[16] = {0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 0, 0, 4, 4, 5, 5};
    check(memcmp(bytes, expected, 16) == 0);

    /* A derived type may be freed after the call; MPI_File_get_view returns a duplicate. */
    ok(MPI_Type_dup(MPI_INT, &type));
    ok(MPI_File_set_view(file, 16, type, type, "native", MPI_INFO_NULL));
    ok(MPI_Type_free(&type));
    ok(MPI_File_get_view(file, &at, &found, &other, datarep));
    check(found != MPI_DATATYPE_NULL && found != other);
    ok(MPI_Type_size(found, &count));
    check_equal(count, 4);
    ok(MPI_Type_free(&found));
    ok(MPI_Type_free(&other));

    /* An invalid view changes nothing, in no process. */
    const int last = rank == size - 1;
    MPI_Info none = MPI_INFO_NULL;
    check_class(MPI_File_set_view(file, last ? -5 : 0, MPI_INT, MPI_INT, "native", none), MPI_ERR_ARG);
    check_class(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", none), MPI_ERR_ARG);
    check_class(MPI_File_set_view(file, 0, last ? MPI_DATATYPE_NULL : MPI_INT, MPI_INT, "native", none), MPI_ERR_TYPE);
    check_class(MPI_File_set_view(file, 0, MPI_INT, last ? MPI_SHORT : MPI_INT, "native", none), MPI_ERR_TYPE);
    check_class(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, last ? "martian" : "native", none),
                MPI_ERR_UNSUPPORTED_DATAREP);
    check_class(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, last ? NULL : "native", none), MPI_ERR_ARG);
    if (size > 1) {
        check_class(MPI_File_set_view(file, 0, last ? MPI_INT : MPI_SHORT, MPI_INT, "native", none), MPI_ERR_NOT_SAME);
        check_class(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, last ? "native" : "internal", none), MPI_ERR_NOT_SAME);
    }
    check_class(MPI_File_get_byte_offset(file, -1, &at), MPI_ERR_ARG);
    check_class(MPI_File_get_byte_offset(file, INT64_MAX / 2, &at), MPI_ERR_ARG);
    ok(MPI_File_get_byte_offset(file, 1, &at));
    check_equal(at, 20);
    ok(MPI_File_close(&file));
    remove_all(name);
    return finish();
}
