/* Copy and delete callbacks: which attributes are copied, the arguments of the callbacks, and that a failing
 * callback stops the operation. */
#include "check.h"

static int copies, deletes, copy_code, delete_code, state = 11;
static void *deleted;

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    int number = -1;
    copies++;
    check(comm == MPI_COMM_WORLD && extra == &state);
    /* MPI may be called from callbacks. */
    ok(MPI_Comm_size(comm, &number));
    check_equal(number, size);
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return copy_code;
}

static int delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int number = -1;
    deletes++;
    deleted = value;
    check(extra == &state);
    ok(MPI_Comm_size(comm, &number));
    return delete_code;
}

static int refuse(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    *flag = 0;
    return MPI_SUCCESS;
}

static void *value_of(MPI_Comm comm, int keyval)
{
    void *value = NULL;
    int flag = 0;
    ok(MPI_Comm_get_attr(comm, keyval, &value, &flag));
    return flag ? value : NULL;
}

int main(int argc, char **argv)
{
    MPI_Comm other, stale;
    int counted, shared, kept, refused, freed, code, wrong_kind;
    char memory[10];
    begin(&argc, &argv);
    return_errors();
    ok(MPI_Comm_create_keyval(copy, delete, &counted, &state));
    ok(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &shared, NULL));
    ok(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &kept, NULL));
    ok(MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &refused, NULL));
    check(value_of(MPI_COMM_WORLD, counted) == NULL);
    ok(MPI_Comm_set_attr(MPI_COMM_WORLD, counted, &memory[1]));
    ok(MPI_Comm_set_attr(MPI_COMM_WORLD, shared, &memory[2]));
    ok(MPI_Comm_set_attr(MPI_COMM_WORLD, kept, &memory[3]));
    ok(MPI_Comm_set_attr(MPI_COMM_WORLD, refused, &memory[4]));
    check(value_of(MPI_COMM_WORLD, counted) == &memory[1] && value_of(MPI_COMM_WORLD, kept) == &memory[3]);

    ok(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    check_equal(copies, 1);
    check(value_of(other, counted) == &memory[2] && value_of(other, shared) == &memory[2]);
    check(value_of(other, kept) == NULL && value_of(other, refused) == NULL);

    /* Setting an attribute again deletes the old value; so do deleting it and freeing the communicator. */
    ok(MPI_Comm_set_attr(other, counted, &memory[5]));
    check(deletes == 1 && deleted == &memory[2]);
    ok(MPI_Comm_delete_attr(other, counted));
    check(deletes == 2 && deleted == &memory[5] && value_of(other, counted) == NULL);
    ok(MPI_Comm_delete_attr(other, counted));
    check_equal(deletes, 2);
    ok(MPI_Comm_set_attr(other, counted, &memory[6]));

    /* A delete callback that fails: nothing is deleted, replaced or freed, and the call returns its code. */
    ok(MPI_Add_error_code(MPI_ERR_OTHER, &code));
    delete_code = code;
    check_equal(MPI_Comm_delete_attr(other, counted), code);
    check_equal(MPI_Comm_set_attr(other, counted, &memory[7]), code);
    stale = other;
    check_equal(MPI_Comm_free(&other), code);
    check(other == stale && value_of(other, counted) == &memory[6]);
    delete_code = MPI_SUCCESS;
    deletes = 0;
    ok(MPI_Comm_free(&other));
    check(deletes == 1 && deleted == &memory[6]);

    /* A copy callback that fails: there is no duplicate, and the call returns its code. */
    copy_code = code;
    other = MPI_COMM_NULL;
    check_equal(MPI_Comm_dup(MPI_COMM_WORLD, &other), code);
    check(other == MPI_COMM_NULL);
    copy_code = MPI_SUCCESS;
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    ok(MPI_Barrier(other));

    /* A freed keyval remains valid for the attributes that were set with it. */
    freed = counted;
    deletes = 0;
    ok(MPI_Comm_free_keyval(&counted));
    check_equal(counted, MPI_KEYVAL_INVALID);
    check_class(MPI_Comm_set_attr(other, freed, memory), MPI_ERR_KEYVAL);
    check_class(MPI_Comm_free_keyval(&freed), MPI_ERR_KEYVAL);
    check(value_of(other, freed) != NULL);
    ok(MPI_Comm_free(&other));
    check_equal(deletes, 1);
    ok(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &counted, &state));
    freed = counted;
    deletes = 0;
    ok(MPI_Comm_set_attr(MPI_COMM_SELF, counted, memory));
    ok(MPI_Comm_free_keyval(&counted));
    check(value_of(MPI_COMM_WORLD, freed) == NULL);
    check(value_of(MPI_COMM_SELF, freed) == memory);
    ok(MPI_Comm_delete_attr(MPI_COMM_SELF, freed));
    check_equal(deletes, 1);
    check_class(MPI_Comm_delete_attr(MPI_COMM_SELF, freed), MPI_ERR_KEYVAL);

    check_class(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, memory), MPI_ERR_KEYVAL);
    check_class(MPI_Comm_delete_attr(MPI_COMM_WORLD, 12345678), MPI_ERR_KEYVAL);
    check_class(MPI_Comm_set_attr(MPI_COMM_NULL, kept, memory), MPI_ERR_COMM);
    ok(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &wrong_kind, NULL));
    check_class(MPI_Comm_set_attr(MPI_COMM_WORLD, wrong_kind, memory), MPI_ERR_KEYVAL);
    ok(MPI_Type_free_keyval(&wrong_kind));
    ok(MPI_Comm_free_keyval(&kept));
    ok(MPI_Comm_free_keyval(&shared));
    ok(MPI_Comm_free_keyval(&refused));
    return finish();
}
