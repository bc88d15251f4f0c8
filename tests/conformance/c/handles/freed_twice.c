/* Freeing a handle a second time is an error of its class, also when a new object has the slot; the new object stays
 * valid. */
#include "check.h"

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

static void operation(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)length, (void)type;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return_errors();
    for (int i = 0; i < 1000; i++) {
        MPI_Comm comm, old_comm, new_comm;
        MPI_Datatype type, old_type, new_type;
        MPI_Op op, old_op, new_op;
        MPI_Errhandler errhandler, old_errhandler, new_errhandler;
        int value = 0;
        MPI_Comm_dup(MPI_COMM_SELF, &comm), old_comm = comm;
        MPI_Type_dup(MPI_INT, &type), old_type = type;
        MPI_Op_create(operation, 1, &op), old_op = op;
        MPI_Comm_create_errhandler(handler, &errhandler), old_errhandler = errhandler;
        ok(MPI_Comm_free(&comm));
        ok(MPI_Type_free(&type));
        ok(MPI_Op_free(&op));
        ok(MPI_Errhandler_free(&errhandler));
        MPI_Comm_dup(MPI_COMM_SELF, &new_comm);
        MPI_Type_dup(MPI_INT, &new_type);
        MPI_Op_create(operation, 1, &new_op);
        MPI_Comm_create_errhandler(handler, &new_errhandler);
        check_class(MPI_Comm_free(&old_comm), MPI_ERR_COMM);
        check_class(MPI_Comm_rank(old_comm, &value), MPI_ERR_COMM);
        check_class(MPI_Type_free(&old_type), MPI_ERR_TYPE);
        check_class(MPI_Op_free(&old_op), MPI_ERR_OP);
        check_class(MPI_Errhandler_free(&old_errhandler), MPI_ERR_ERRHANDLER);
        ok(MPI_Comm_rank(new_comm, &value));
        ok(MPI_Comm_free(&new_comm));
        ok(MPI_Type_free(&new_type));
        ok(MPI_Op_free(&new_op));
        ok(MPI_Errhandler_free(&new_errhandler));
    }
    return finish();
}
