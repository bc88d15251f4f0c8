/* Keys keep their order and their last value; copies are independent; values are cut to the given room. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Info info, copy;
    char value[MPI_MAX_INFO_VAL + 1], key[MPI_MAX_INFO_KEY + 1];
    int flag = -1, number = -1, length = -1;
    /* Info objects may be used before MPI_Init. */
    ok(MPI_Info_create(&info));
    check(info != MPI_INFO_NULL && info != MPI_INFO_ENV);
    begin(&argc, &argv);
    ok(MPI_Info_get_nkeys(info, &number));
    check_equal(number, 0);
    ok(MPI_Info_set(info, "first", "one"));
    ok(MPI_Info_set(info, "second", "two"));
    ok(MPI_Info_set(info, "first", "eleven"));
    ok(MPI_Info_set(info, "empty", ""));
    ok(MPI_Info_get_nkeys(info, &number));
    check_equal(number, 3);
    ok(MPI_Info_get_nthkey(info, 0, key));
    check(strcmp(key, "first") == 0);
    ok(MPI_Info_get_nthkey(info, 2, key));
    check(strcmp(key, "empty") == 0);

    ok(MPI_Info_get(info, "first", MPI_MAX_INFO_VAL, value, &flag));
    check(flag && strcmp(value, "eleven") == 0);
    ok(MPI_Info_get(info, "first", 3, value, &flag));
    check(flag && strcmp(value, "ele") == 0);
    strcpy(value, "untouched");
    ok(MPI_Info_get(info, "third", 20, value, &flag));
    check(!flag && strcmp(value, "untouched") == 0);
    ok(MPI_Info_get_valuelen(info, "first", &length, &flag));
    check(flag && length == 6);
    ok(MPI_Info_get_valuelen(info, "empty", &length, &flag));
    check(flag && length == 0);

    length = 0;
    ok(MPI_Info_get_string(info, "first", &length, NULL, &flag));
    check(flag && length == 7);
    length = 4;
    ok(MPI_Info_get_string(info, "first", &length, value, &flag));
    check(flag && length == 7 && strcmp(value, "ele") == 0);
    length = 9;
    ok(MPI_Info_get_string(info, "third", &length, value, &flag));
    check(!flag && length == 9);

    ok(MPI_Info_dup(info, &copy));
    ok(MPI_Info_delete(info, "second"));
    ok(MPI_Info_get_nkeys(info, &number));
    check_equal(number, 2);
    ok(MPI_Info_get_nthkey(info, 1, key));
    check(strcmp(key, "empty") == 0);
    ok(MPI_Info_get_nkeys(copy, &number));
    check_equal(number, 3);
    ok(MPI_Info_get_nthkey(copy, 1, key));
    check(strcmp(key, "second") == 0);
    ok(MPI_Info_free(&info));
    check(info == MPI_INFO_NULL);

    /* The longest key and the longest value fit. */
    memset(key, 'k', sizeof key);
    key[MPI_MAX_INFO_KEY - 1] = 0;
    memset(value, 'v', sizeof value);
    value[MPI_MAX_INFO_VAL - 1] = 0;
    ok(MPI_Info_set(copy, key, value));
    ok(MPI_Info_get_valuelen(copy, key, &length, &flag));
    check(flag && length == MPI_MAX_INFO_VAL - 1);
    ok(MPI_Info_free(&copy));
    return finish();
}
