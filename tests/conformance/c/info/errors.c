/* An invalid info object, key, value or index is an error of its own class, and changes nothing. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Info info, stale, other = MPI_INFO_NULL;
    char value[MPI_MAX_INFO_VAL + 2], key[MPI_MAX_INFO_KEY + 2];
    int flag = -1, number = -1, length = 5;
    begin(&argc, &argv);
    return_errors();
    ok(MPI_Info_create(&info));
    ok(MPI_Info_set(info, "key", "value"));
    memset(key, 'k', sizeof key);
    key[MPI_MAX_INFO_KEY] = 0;
    memset(value, 'v', sizeof value);
    value[MPI_MAX_INFO_VAL] = 0;
    check_class(MPI_Info_set(info, "", "value"), MPI_ERR_INFO_KEY);
    check_class(MPI_Info_set(info, key, "value"), MPI_ERR_INFO_KEY);
    check_class(MPI_Info_set(info, "key", value), MPI_ERR_INFO_VALUE);
    check_class(MPI_Info_get(info, key, 10, value, &flag), MPI_ERR_INFO_KEY);
    check_class(MPI_Info_delete(info, "absent"), MPI_ERR_INFO_NOKEY);
    check_class(MPI_Info_get_nthkey(info, 1, key), MPI_ERR_ARG);
    check_class(MPI_Info_get_nthkey(info, -1, key), MPI_ERR_ARG);
    check_class(MPI_Info_get(info, "key", -1, value, &flag), MPI_ERR_ARG);
    check_class(MPI_Info_get_string(info, "key", &length, NULL, &flag), MPI_ERR_ARG);
    ok(MPI_Info_get_nkeys(info, &number));
    check_equal(number, 1);
    ok(MPI_Info_get(info, "key", MPI_MAX_INFO_VAL - 1, value, &flag));
    check(flag && strcmp(value, "value") == 0);

    check_class(MPI_Info_set(MPI_INFO_NULL, "key", "value"), MPI_ERR_INFO);
    check_class(MPI_Info_dup(MPI_INFO_NULL, &other), MPI_ERR_INFO);
    check_class(MPI_Info_get_nkeys(MPI_INFO_NULL, &number), MPI_ERR_INFO);
    check_class(MPI_Info_free(&other), MPI_ERR_INFO);
    check(other == MPI_INFO_NULL);
    stale = info;
    ok(MPI_Info_free(&info));
    check_class(MPI_Info_free(&stale), MPI_ERR_INFO);
    check_class(MPI_Info_get_nkeys(stale, &number), MPI_ERR_INFO);
    return finish();
}
