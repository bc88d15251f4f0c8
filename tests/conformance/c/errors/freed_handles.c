/* The error text of a freed handle names the call that freed it. */
#include "errors/text.h"

static void sum(void *in, void *inout, int *length, MPI_Datatype *datatype)
{
}

static void on_error(MPI_Comm *comm, int *code, ...)
{
}

int main(int argc, char **argv)
{
    int code, number;
    begin(&argc, &argv);
    return_errors();

    MPI_Comm comm, old_comm;
    ok(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    old_comm = comm;
    ok(MPI_Comm_free(&comm));
    code = MPI_Comm_size(old_comm, &number);
    check_class(code, MPI_ERR_COMM);
    check(has(code, "freed by MPI_Comm_free") && has(code, "MPI_Comm_size"));
    comm = old_comm;
    code = MPI_Comm_free(&comm);
    check_class(code, MPI_ERR_COMM);
    check(has(code, "freed by MPI_Comm_free"));
    check(comm == old_comm);

    MPI_Datatype type, old_type;
    ok(MPI_Type_dup(MPI_INT, &type));
    old_type = type;
    ok(MPI_Type_free(&type));
    code = MPI_Type_size(old_type, &number);
    check_class(code, MPI_ERR_TYPE);
    check(has(code, "freed by MPI_Type_free"));

    MPI_Op op, old_op;
    ok(MPI_Op_create(sum, 1, &op));
    old_op = op;
    ok(MPI_Op_free(&op));
    code = MPI_Op_free(&old_op);
    check_class(code, MPI_ERR_OP);
    check(has(code, "freed by MPI_Op_free"));

    MPI_Group group, old_group;
    ok(MPI_Comm_group(MPI_COMM_WORLD, &group));
    old_group = group;
    ok(MPI_Group_free(&group));
    code = MPI_Group_size(old_group, &number);
    check_class(code, MPI_ERR_GROUP);
    check(has(code, "freed by MPI_Group_free"));

    MPI_Info info, old_info;
    ok(MPI_Info_create(&info));
    old_info = info;
    ok(MPI_Info_free(&info));
    code = MPI_Info_get_nkeys(old_info, &number);
    check_class(code, MPI_ERR_INFO);
    check(has(code, "freed by MPI_Info_free"));

    MPI_Errhandler handler, old_handler;
    ok(MPI_Comm_create_errhandler(on_error, &handler));
    old_handler = handler;
    ok(MPI_Errhandler_free(&handler));
    code = MPI_Comm_set_errhandler(MPI_COMM_WORLD, old_handler);
    check_class(code, MPI_ERR_ERRHANDLER);
    check(has(code, "freed by MPI_Errhandler_free"));

    MPI_Win win, old_win;
    char memory[8];
    ok(MPI_Win_create(memory, 8, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win));
    old_win = win;
    ok(MPI_Win_free(&win));
    code = MPI_Win_fence(0, old_win);
    check_class(code, MPI_ERR_WIN);
    check(has(code, "freed by MPI_Win_free"));

    MPI_File file, old_file;
    MPI_Offset bytes;
    ok(MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    old_file = file;
    ok(MPI_File_close(&file));
    code = MPI_File_get_size(old_file, &bytes);
    check_class(code, MPI_ERR_FILE);
    check(has(code, "freed by MPI_File_close"));

    /* The error text names a handle of another kind of object. */
    code = MPI_Comm_size((MPI_Comm)old_group, &number);
    check_class(code, MPI_ERR_COMM);
    check(has(code, "the handle of a group"));
    return finish();
}
