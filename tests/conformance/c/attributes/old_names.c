/* The functions of MPI-1 for attributes work on the same keys and values. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Comm other;
    int key, flag = 0, number = 3;
    void *value = NULL;
    begin(&argc, &argv);
    return_errors();
    ok(MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &key, NULL));
    ok(MPI_Attr_put(MPI_COMM_WORLD, key, &number));
    ok(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag));
    check(flag && value == &number);
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    ok(MPI_Attr_get(other, key, &value, &flag));
    check(flag && value == &number);
    ok(MPI_Attr_delete(other, key));
    ok(MPI_Attr_get(other, key, &value, &flag));
    check(!flag);
    ok(MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
    check(flag && *(int *)value >= 32767);
    ok(MPI_Comm_free(&other));
    ok(MPI_Attr_delete(MPI_COMM_WORLD, key));
    ok(MPI_Keyval_free(&key));
    check_equal(key, MPI_KEYVAL_INVALID);
    check_class(MPI_Attr_put(MPI_COMM_WORLD, key, &number), MPI_ERR_KEYVAL);
    return finish();
}
