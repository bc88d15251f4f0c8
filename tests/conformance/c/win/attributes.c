/* The predefined attributes describe the window; the program's own attributes are deleted by their callbacks. */
#include "check.h"

static int deleted[8], deletes;

static int on_delete(MPI_Win win, int keyval, void *value, void *extra)
{
    check(extra == (void *)deleted);
    if (deletes < 8)
        deleted[deletes++] = *(int *)value;
    return *(int *)value == 13 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int never(MPI_Win win, int keyval, void *extra, void *in, void *out, int *flag)
{
    check(!"windows are not copied");
    return MPI_SUCCESS;
}

static void predefined(MPI_Win win, void *base, MPI_Aint bytes, int unit, int flavor)
{
    void *found = NULL;
    int flag = 0;
    ok(MPI_Win_get_attr(win, MPI_WIN_BASE, &found, &flag));
    check(flag && found == base);
    ok(MPI_Win_get_attr(win, MPI_WIN_SIZE, &found, &flag));
    check(flag);
    check_equal(*(MPI_Aint *)found, bytes);
    ok(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &found, &flag));
    check(flag);
    check_equal(*(int *)found, unit);
    ok(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &found, &flag));
    check(flag);
    check_equal(*(int *)found, flavor);
    ok(MPI_Win_get_attr(win, MPI_WIN_MODEL, &found, &flag));
    check(flag);
    check_equal(*(int *)found, MPI_WIN_UNIFIED);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return_errors();
    char memory[100], *own = NULL;
    MPI_Win win, other;
    ok(MPI_Win_create(memory, 10 + rank, 2, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    ok(MPI_Win_allocate(1000 * (rank + 1), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &other));
    ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    ok(MPI_Win_set_errhandler(other, MPI_ERRORS_RETURN));
    predefined(win, memory, 10 + rank, 2, MPI_WIN_FLAVOR_CREATE);
    predefined(other, own, 1000 * (rank + 1), 4, MPI_WIN_FLAVOR_ALLOCATE);
    memset(own, 1, 1000 * (size_t)(rank + 1));

    int keys[2], of_comms, values[3] = {11, 12, 13}, flag = 1;
    int *found = NULL;
    ok(MPI_Win_create_keyval(never, on_delete, &keys[0], deleted));
    ok(MPI_Win_create_keyval(MPI_WIN_DUP_FN, on_delete, &keys[1], deleted));
    ok(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &of_comms, NULL));
    ok(MPI_Win_get_attr(win, keys[0], &found, &flag));
    check(!flag);
    ok(MPI_Win_set_attr(win, keys[0], &values[0]));
    ok(MPI_Win_set_attr(win, keys[1], &values[1]));
    ok(MPI_Win_get_attr(win, keys[1], &found, &flag));
    check(flag && found == &values[1]);
    ok(MPI_Win_get_attr(other, keys[1], &found, &flag));
    check(!flag);
    /* A value that is replaced is deleted first. */
    ok(MPI_Win_set_attr(win, keys[0], &values[2]));
    check(deletes == 1 && deleted[0] == 11);
    /* A callback that fails keeps the value, and the window. */
    check_class(MPI_Win_delete_attr(win, keys[0]), MPI_ERR_OTHER);
    ok(MPI_Win_get_attr(win, keys[0], &found, &flag));
    check(flag && found == &values[2]);
    MPI_Win kept = win;
    check_class(MPI_Win_free(&win), MPI_ERR_OTHER);
    check(win == kept);
    values[2] = 14;

    check_class(MPI_Win_set_attr(win, MPI_WIN_SIZE, found), MPI_ERR_KEYVAL);
    check_class(MPI_Win_delete_attr(win, MPI_WIN_BASE), MPI_ERR_KEYVAL);
    check_class(MPI_Win_set_attr(win, of_comms, found), MPI_ERR_KEYVAL);
    check_class(MPI_Win_get_attr(win, MPI_TAG_UB, &found, &flag), MPI_ERR_KEYVAL);
    check_class(MPI_Comm_set_attr(MPI_COMM_WORLD, keys[0], found), MPI_ERR_KEYVAL);
    int base = MPI_WIN_BASE;
    check_class(MPI_Win_free_keyval(&base), MPI_ERR_KEYVAL);

    /* A freed keyval remains valid for the attributes set with it; the last one set is deleted first. */
    int freed = keys[0];
    ok(MPI_Win_free_keyval(&freed));
    check_equal(freed, MPI_KEYVAL_INVALID);
    ok(MPI_Win_get_attr(win, keys[0], &found, &flag));
    check(flag);
    deletes = 0;
    ok(MPI_Win_free(&win));
    check_equal(deletes, 2);
    check_equal(deleted[0] + 100 * deleted[1], 14 + 100 * 12);
    ok(MPI_Win_free_keyval(&keys[1]));
    ok(MPI_Comm_free_keyval(&of_comms));
    ok(MPI_Win_free(&other));
    return finish();
}
