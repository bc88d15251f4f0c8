/* The predefined attributes: pointers to ints with correct values on every communicator, which the program cannot
 * change. */
#include "check.h"

static int *attribute(MPI_Comm comm, int keyval)
{
    int *value = NULL, flag = 0;
    ok(MPI_Comm_get_attr(comm, keyval, &value, &flag));
    return flag ? value : NULL;
}

int main(int argc, char **argv)
{
    int keys[] = {MPI_TAG_UB, MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_APPNUM, MPI_UNIVERSE_SIZE, MPI_LASTUSEDCODE};
    int *value, class, code, other = 5;
    MPI_Comm copy;
    begin(&argc, &argv);
    return_errors();
    value = attribute(MPI_COMM_WORLD, MPI_TAG_UB);
    check(value && *value >= 32767);
    if (value) {
        int number = rank, back = -1;
        ok(MPI_Sendrecv(&number, 1, MPI_INT, rank, *value, &back, 1, MPI_INT, rank, *value, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
        check_equal(back, rank);
    }
    value = attribute(MPI_COMM_WORLD, MPI_HOST);
    check(value && *value == MPI_PROC_NULL);
    value = attribute(MPI_COMM_WORLD, MPI_IO);
    check(value && *value == MPI_ANY_SOURCE);
    value = attribute(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL);
    check(value && *value == 1);
    value = attribute(MPI_COMM_WORLD, MPI_APPNUM);
    check(value && *value == 0);
    value = attribute(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE);
    check(value && *value >= size);

    /* The last used code grows with each addition, and the pointer stays the same. */
    value = attribute(MPI_COMM_WORLD, MPI_LASTUSEDCODE);
    check(value && *value >= MPI_ERR_LASTCODE);
    int before = *value;
    ok(MPI_Add_error_class(&class));
    check(class > before);
    check_equal(*value, class);
    ok(MPI_Add_error_code(class, &code));
    check_equal(*value, code);
    check(attribute(MPI_COMM_WORLD, MPI_LASTUSEDCODE) == value);

    ok(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        int key = keys[i];
        check(attribute(copy, key) != NULL);
        check_class(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &other), MPI_ERR_KEYVAL);
        check_class(MPI_Comm_delete_attr(MPI_COMM_WORLD, key), MPI_ERR_KEYVAL);
        check_class(MPI_Comm_free_keyval(&key), MPI_ERR_KEYVAL);
        check_equal(key, keys[i]);
    }
    ok(MPI_Comm_free(&copy));
    return finish();
}
