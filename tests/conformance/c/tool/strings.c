/* All strings of the interface are returned whole or cut, always with their NUL, and nothing behind it is written.
 * With a null pointer or a length of 0 the length with its NUL is returned; without a length no string is returned;
 * a negative length is an error that stores nothing. */
#include "tool.h"

enum { ROOM = 2048, MARK = 'x' };

/* One call that returns a string; `what` is an index, and `items` an enumeration. */
typedef int (*string_call)(int what, MPI_T_enum items, char *text, int *length);

static int pvar_name(int i, MPI_T_enum e, char *text, int *length)
{
    return MPI_T_pvar_get_info(i, text, length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
}

static int pvar_description(int i, MPI_T_enum e, char *text, int *length)
{
    return MPI_T_pvar_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, text, length, NULL, NULL, NULL, NULL);
}

static int cvar_name(int i, MPI_T_enum e, char *text, int *length)
{
    return MPI_T_cvar_get_info(i, text, length, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
}

static int cvar_description(int i, MPI_T_enum e, char *text, int *length)
{
    return MPI_T_cvar_get_info(i, NULL, NULL, NULL, NULL, NULL, text, length, NULL, NULL);
}

static int category_name(int i, MPI_T_enum e, char *text, int *length)
{
    return MPI_T_category_get_info(i, text, length, NULL, NULL, NULL, NULL, NULL);
}

static int category_description(int i, MPI_T_enum e, char *text, int *length)
{
    return MPI_T_category_get_info(i, NULL, NULL, text, length, NULL, NULL, NULL);
}

static int event_name(int i, MPI_T_enum e, char *text, int *length)
{
    return MPI_T_event_get_info(i, text, length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
}

static int event_description(int i, MPI_T_enum e, char *text, int *length)
{
    return MPI_T_event_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, text, length, NULL);
}

static int source_name(int i, MPI_T_enum e, char *text, int *length)
{
    return MPI_T_source_get_info(i, text, length, NULL, NULL, NULL, NULL, NULL, NULL);
}

static int source_description(int i, MPI_T_enum e, char *text, int *length)
{
    return MPI_T_source_get_info(i, NULL, NULL, text, length, NULL, NULL, NULL, NULL);
}

static int enum_name(int i, MPI_T_enum e, char *text, int *length)
{
    return MPI_T_enum_get_info(e, NULL, text, length);
}

static int item_name(int i, MPI_T_enum e, char *text, int *length)
{
    return MPI_T_enum_get_item(e, i, NULL, text, length);
}

static int untouched(const char *text, int from)
{
    for (int i = from; i < ROOM; i++)
        if (text[i] != MARK)
            return 0;
    return 1;
}

static void one(string_call call, int what, MPI_T_enum items)
{
    char whole[ROOM], part[ROOM];
    int length = ROOM, any = 77, zero = 0, negative = -1, before = wrong;
    memset(whole, MARK, sizeof whole);
    ok(call(what, items, whole, &length));
    int full = (int)strlen(whole) + 1;
    check(full > 1 && full < ROOM - 2);
    check_equal(length, full);
    check(untouched(whole, full));
    ok(call(what, items, NULL, &any));
    check_equal(any, full);
    any = 0;
    ok(call(what, items, NULL, &any));
    check_equal(any, full);
    int rooms[] = {1, 2, full / 2, full - 1, full, full + 1};
    for (int r = 0; r < 6; r++) {
        int room = rooms[r] > 0 ? rooms[r] : 1, stored = room < full ? room : full;
        memset(part, MARK, sizeof part);
        length = room;
        ok(call(what, items, part, &length));
        check_equal(length, full);
        check(memcmp(part, whole, (size_t)stored - 1) == 0 && part[stored - 1] == 0);
        check(untouched(part, stored));
    }
    memset(part, MARK, sizeof part);
    ok(call(what, items, part, &zero));
    check_equal(zero, full);
    ok(call(what, items, part, NULL));
    ok(call(what, items, NULL, NULL));
    check_equal(call(what, items, part, &negative), MPI_T_ERR_INVALID);
    check_equal(negative, -1);
    check(untouched(part, 0));
    if (wrong > before)
        fprintf(stderr, "... of %s\n", whole);
}

static void all(int (*number_of)(int *), string_call name, string_call description)
{
    int number = 0;
    ok(number_of(&number));
    check(number > 0);
    for (int i = 0; i < number; i++) {
        one(name, i, MPI_T_ENUM_NULL);
        one(description, i, MPI_T_ENUM_NULL);
    }
}

static void enumeration(MPI_T_enum items)
{
    int number = 0;
    if (items == MPI_T_ENUM_NULL)
        return;
    ok(MPI_T_enum_get_info(items, &number, NULL, NULL));
    one(enum_name, 0, items);
    for (int i = 0; i < number; i++)
        one(item_name, i, items);
}

static void enumerations(void)
{
    int number = 0;
    MPI_T_enum items;
    ok(MPI_T_cvar_get_num(&number));
    for (int i = 0; i < number; i++) {
        ok(MPI_T_cvar_get_info(i, NULL, NULL, NULL, NULL, &items, NULL, NULL, NULL, NULL));
        enumeration(items);
    }
    ok(MPI_T_event_get_num(&number));
    for (int i = 0; i < number; i++) {
        ok(MPI_T_event_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, &items, NULL, NULL, NULL, NULL));
        enumeration(items);
    }
}

/* Both strings of one call at once, each with a length of its own; and a wrong length of one of them writes neither.
 * */
static void two_at_once(void)
{
    char name[ROOM], text[ROOM];
    int name_length = 3, text_length = 5, negative = -7, long_enough = ROOM;
    memset(name, MARK, sizeof name), memset(text, MARK, sizeof text);
    ok(MPI_T_cvar_get_info(0, name, &name_length, NULL, NULL, NULL, text, &text_length, NULL, NULL));
    check(strlen(name) == 2 && strlen(text) == 4 && untouched(name, 3) && untouched(text, 5));
    memset(name, MARK, sizeof name), memset(text, MARK, sizeof text);
    check_equal(MPI_T_cvar_get_info(0, name, &long_enough, NULL, NULL, NULL, text, &negative, NULL, NULL),
                MPI_T_ERR_INVALID);
    check(untouched(name, 0) && untouched(text, 0) && long_enough == ROOM && negative == -7);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    tool_begin();
    all(MPI_T_pvar_get_num, pvar_name, pvar_description);
    all(MPI_T_cvar_get_num, cvar_name, cvar_description);
    all(MPI_T_category_get_num, category_name, category_description);
    all(MPI_T_event_get_num, event_name, event_description);
    all(MPI_T_source_get_num, source_name, source_description);
    enumerations();
    two_at_once();
    MPI_T_finalize();
    return finish();
}
