/* The representation external32: sizes, the bytes of known numbers, values that come back; from a derived type too. */
#include "check.h"
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

static MPI_Aint size_of(int count, MPI_Datatype type)
{
    MPI_Aint size = -1;
    MPI_Count size_c = -1;
    ok(MPI_Pack_external_size("external32", count, type, &size));
    ok(MPI_Pack_external_size_c("external32", count, type, &size_c));
    check_equal(size, size_c);
    return size;
}

static void expect_bytes(const void *value, MPI_Datatype type, int length, const unsigned char *bytes)
{
    unsigned char packed[64], own[64], back[64];
    MPI_Aint at = 0, used = 0;
    int size = 0;
    ok(MPI_Type_size(type, &size));
    memcpy(own, value, (size_t)size);
    check_equal(size_of(1, type), length);
    ok(MPI_Pack_external("external32", value, 1, type, packed, sizeof packed, &at));
    check_equal(at, length);
    for (int i = 0; i < length; i++)
        check_equal(packed[i], bytes[i]);
    memset(back, 0, sizeof back);
    ok(MPI_Unpack_external("external32", packed, length, &used, back, 1, type));
    check_equal(used, length);
    check(memcmp(own, back, type == MPI_LONG_DOUBLE ? 10 : (size_t)size) == 0);
}

#define BYTES(type, ctype, value, ...)                                                                                 \
    do {                                                                                                               \
        const unsigned char bytes[] = {__VA_ARGS__};                                                                   \
        ctype variable = value;                                                                                        \
        expect_bytes(&variable, type, sizeof bytes, bytes);                                                            \
    } while (0)

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return_errors();
    BYTES(MPI_CHAR, char, 'A', 0x41);
    BYTES(MPI_SHORT, short, -2, 0xff, 0xfe);
    BYTES(MPI_INT, int, 0x01020304, 1, 2, 3, 4);
    BYTES(MPI_LONG, long, -3, 0xff, 0xff, 0xff, 0xfd);
    BYTES(MPI_UNSIGNED_LONG, unsigned long, 0xfffffffdul, 0xff, 0xff, 0xff, 0xfd);
    BYTES(MPI_LONG_LONG, long long, -3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfd);
    BYTES(MPI_INT64_T, int64_t, 258, 0, 0, 0, 0, 0, 0, 1, 2);
    BYTES(MPI_AINT, MPI_Aint, 258, 0, 0, 0, 0, 0, 0, 1, 2);
    BYTES(MPI_WCHAR, wchar_t, 0x20ac, 0x20, 0xac);
    BYTES(MPI_FLOAT, float, -1.5f, 0xbf, 0xc0, 0, 0);
    BYTES(MPI_DOUBLE, double, 1.0, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0);
    BYTES(MPI_LONG_DOUBLE, long double, -2.5L, 0xc0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    BYTES(MPI_C_BOOL, _Bool, 1, 1);
    check_equal(size_of(10, MPI_DOUBLE_INT), 120);
    check_equal(size_of(0, MPI_DOUBLE), 0);

    /* A structure with gaps, many of them, in two steps. */
    enum { MANY = 3000 };
    struct item {
        char letter;
        double number;
        long key;
        short small[3];
    };
    static struct item items[MANY], back[MANY];
    const int lengths[] = {1, 1, 1, 3};
    const MPI_Aint places[] = {offsetof(struct item, letter), offsetof(struct item, number), offsetof(struct item, key),
                               offsetof(struct item, small)};
    const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_LONG, MPI_SHORT};
    MPI_Datatype type;
    ok(MPI_Type_create_struct(4, lengths, places, types, &type));
    ok(MPI_Type_commit(&type));
    for (int i = 0; i < MANY; i++)
        items[i] = (struct item){(char)i, i / 3.0, i - 1000, {(short)i, 1, -1}};
    MPI_Aint room = size_of(MANY, type), at = 0, used = 0;
    check_equal(room, MANY * (1 + 8 + 4 + 6));
    char *packed = malloc((size_t)room);
    ok(MPI_Pack_external("external32", items, 1000, type, packed, room, &at));
    ok(MPI_Pack_external("external32", items + 1000, MANY - 1000, type, packed, room, &at));
    check_equal(at, room);
    ok(MPI_Unpack_external("external32", packed, room, &used, back, MANY, type));
    for (int i = 0; i < MANY; i++)
        check(back[i].letter == items[i].letter && back[i].number == items[i].number && back[i].key == items[i].key &&
              memcmp(back[i].small, items[i].small, sizeof back[i].small) == 0);
    check_class(MPI_Pack_external("external32", items, 1, type, packed, room, &at), MPI_ERR_TRUNCATE);
    check_equal(at, room);
    MPI_Count at_c = 0;
    ok(MPI_Pack_external_c("external32", items, 1, type, packed, room, &at_c));
    check_equal(at_c, 19);
    at_c = 0;
    ok(MPI_Unpack_external_c("external32", packed, 19, &at_c, back + 5, 1, type));
    check(at_c == 19 && back[5].key == items[0].key);
    check_class(MPI_Pack_external("native", items, 1, type, packed, room, &used), MPI_ERR_ARG);
    free(packed);
    ok(MPI_Type_free(&type));
    return finish();
}
