/* Every error class is its own class and has a text that fits; success has one too. */
#include "check.h"

static void inquire(int class)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = -1;
    check_equal(class_of(class), class);
    memset(text, 'x', sizeof text);
    ok(MPI_Error_string(class, text, &length));
    check(length > 0 && length < MPI_MAX_ERROR_STRING);
    check_equal(strlen(text), length);
}

int main(int argc, char **argv)
{
    inquire(MPI_SUCCESS);
    inquire(MPI_ERR_TRUNCATE);
    MPI_Init(&argc, &argv);
    identify();
    for (int class = MPI_SUCCESS; class <= MPI_ERR_ABI; class++)
        inquire(class);
    for (int class = MPI_T_ERR_CANNOT_INIT; class <= MPI_T_ERR_PVAR_NO_ATOMIC; class++)
        inquire(class);
    return_errors();
    char text[MPI_MAX_ERROR_STRING];
    int length, class;
    check_class(MPI_Error_string(-12345, text, &length), MPI_ERR_ARG);
    check_class(MPI_Error_class(0x7ffffffe, &class), MPI_ERR_ARG);
    return finish();
}
