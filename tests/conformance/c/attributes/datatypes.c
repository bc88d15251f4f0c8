/* Attributes and names of datatypes. */
#include "check.h"

static int deletes;

static int copy(MPI_Datatype type, int keyval, void *extra, void *in, void *out, int *flag)
{
    check(type == MPI_INT);
    *(void **)out = in;
    *flag = 1;
    return *(int *)extra;
}

static int delete(MPI_Datatype type, int keyval, void *value, void *extra)
{
    deletes++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    char name[MPI_MAX_OBJECT_NAME], memory[2];
    int key, flag = 0, length = -1, code = MPI_SUCCESS;
    void *value = NULL;
    begin(&argc, &argv);
    return_errors();
    ok(MPI_Type_create_keyval(copy, delete, &key, &code));
    ok(MPI_Type_set_attr(MPI_INT, key, &memory[1]));
    ok(MPI_Type_get_attr(MPI_INT, key, &value, &flag));
    check(flag && value == &memory[1]);
    ok(MPI_Type_get_attr(MPI_FLOAT, key, &value, &flag));
    check(!flag);
    ok(MPI_Type_dup(MPI_INT, &made));
    value = NULL;
    ok(MPI_Type_get_attr(made, key, &value, &flag));
    check(flag && value == &memory[1]);
    ok(MPI_Type_free(&made));
    check_equal(deletes, 1);
    code = MPI_ERR_TYPE;
    check_class(MPI_Type_dup(MPI_INT, &made), MPI_ERR_TYPE);
    check(made == MPI_DATATYPE_NULL);
    code = MPI_SUCCESS;
    ok(MPI_Type_delete_attr(MPI_INT, key));
    check_equal(deletes, 2);
    ok(MPI_Type_free_keyval(&key));
    check_equal(key, MPI_KEYVAL_INVALID);
    check_class(MPI_Type_set_attr(MPI_DATATYPE_NULL, key, NULL), MPI_ERR_TYPE);

    ok(MPI_Type_get_name(MPI_DOUBLE, name, &length));
    check(strcmp(name, "MPI_DOUBLE") == 0 && length == 10);
    ok(MPI_Type_dup(MPI_DOUBLE, &made));
    ok(MPI_Type_get_name(made, name, &length));
    check(name[0] == 0 && length == 0);
    ok(MPI_Type_set_name(made, "speed"));
    ok(MPI_Type_get_name(made, name, &length));
    check(strcmp(name, "speed") == 0 && length == 5);
    ok(MPI_Type_free(&made));
    ok(MPI_Type_set_name(MPI_CHAR, "letter"));
    ok(MPI_Type_get_name(MPI_CHAR, name, &length));
    check(strcmp(name, "letter") == 0);
    return finish();
}
