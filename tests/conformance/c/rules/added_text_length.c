/* The text of an added code: the longest that fits with its NUL is stored whole; one byte more is refused and
 * changes nothing. */
#include "check.h"

int main(int argc, char **argv)
{
    char text[MPI_MAX_ERROR_STRING + 1], got[MPI_MAX_ERROR_STRING];
    int class, code, length = -1;
    begin(&argc, &argv);
    return_errors();
    ok(MPI_Add_error_class(&class));
    ok(MPI_Add_error_code(class, &code));
    memset(text, 't', sizeof text);
    text[MPI_MAX_ERROR_STRING - 1] = 0;
    ok(MPI_Add_error_string(code, text));
    ok(MPI_Error_string(code, got, &length));
    check_equal(length, MPI_MAX_ERROR_STRING - 1);
    check(strcmp(got, text) == 0);
    text[MPI_MAX_ERROR_STRING - 1] = 't', text[MPI_MAX_ERROR_STRING] = 0;
    check_class(MPI_Add_error_string(code, text), MPI_ERR_ARG);
    ok(MPI_Error_string(code, got, &length));
    check_equal(length, MPI_MAX_ERROR_STRING - 1);
    ok(MPI_Add_error_string(class, "a class has a text too"));
    ok(MPI_Error_string(class, got, &length));
    check(strcmp(got, "a class has a text too") == 0);
    return finish();
}
