/* Error texts name common mistakes: a handle of another kind, NULL as a buffer, the same buffer twice,
 * MPI_ANY_SOURCE as a destination, MPI_Init twice. */
#include "errors/text.h"

int main(int argc, char **argv)
{
    int number = 0, code;
    double values[2] = {0};
    MPI_Datatype copy;
    char description[100];
    begin(&argc, &argv);
    return_errors();
    code = MPI_Comm_size((MPI_Comm)MPI_INT, &number);
    check_class(code, MPI_ERR_COMM);
    check(has(code, "argument comm is 0x209, but 0x209 is MPI_INT, a datatype"));
    code = MPI_Type_size((MPI_Datatype)MPI_COMM_WORLD, &number);
    check_class(code, MPI_ERR_TYPE);
    check(has(code, "MPI_COMM_WORLD, a communicator"));
    ok(MPI_Type_dup(MPI_INT, &copy));
    code = MPI_Barrier((MPI_Comm)copy);
    check_class(code, MPI_ERR_COMM);
    check(has(code, "that is the handle of a datatype"));
    ok(MPI_Type_free(&copy));

    code = MPI_Send(NULL, 2, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    check_class(code, MPI_ERR_BUFFER);
    check(has(code, "argument buf is NULL") && lacks(code, "absolute"));
    code = MPI_Send(MPI_IN_PLACE, 2, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    check_class(code, MPI_ERR_BUFFER);
    check(has(code, "argument buf is MPI_IN_PLACE"));
    code = MPI_Allreduce(values, values, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check_class(code, MPI_ERR_BUFFER);
    snprintf(description, sizeof description, "argument recvbuf is %p", (void *)values);
    check(has(code, description) && has(code, "must not be the same memory"));

    code = MPI_Send(values, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD);
    check_class(code, MPI_ERR_RANK);
    check(has(code, "argument dest is MPI_ANY_SOURCE"));
    code = MPI_Init(&argc, &argv);
    check_class(code, MPI_ERR_OTHER);
    check(has(code, "initialized already"));
    return finish();
}
