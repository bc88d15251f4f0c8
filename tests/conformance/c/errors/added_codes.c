/* Classes, codes and texts that a program adds: the same values in all processes; removed ones no longer exist and
 * are not used again. */
#include "check.h"

static int called_with;

static void handler(MPI_Comm *comm, int *code, ...)
{
    called_with = *code;
}

int main(int argc, char **argv)
{
    char text[MPI_MAX_ERROR_STRING], expected[] = "the reactor is too hot";
    int class, code, of_tag, found, length = -1, values[3], low[3], high[3];
    MPI_Errhandler errhandler;
    /* These calls are allowed before MPI_Init. */
    ok(MPI_Add_error_class(&class));
    begin(&argc, &argv);
    return_errors();
    check(class > MPI_ERR_LASTCODE);
    ok(MPI_Add_error_code(class, &code));
    ok(MPI_Add_error_code(MPI_ERR_TAG, &of_tag));
    check(code > class && of_tag > code);
    values[0] = class, values[1] = code, values[2] = of_tag;
    MPI_Allreduce(values, low, 3, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(values, high, 3, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    check(memcmp(low, high, sizeof low) == 0);

    ok(MPI_Error_class(class, &found));
    check_equal(found, class);
    ok(MPI_Error_class(code, &found));
    check_equal(found, class);
    ok(MPI_Error_class(of_tag, &found));
    check_equal(found, MPI_ERR_TAG);

    strcpy(text, "old");
    ok(MPI_Error_string(code, text, &length));
    check(length == 0 && text[0] == 0);
    ok(MPI_Add_error_string(code, "first"));
    ok(MPI_Add_error_string(code, expected));
    ok(MPI_Error_string(code, text, &length));
    check(length == (int)strlen(expected) && strcmp(text, expected) == 0);
    ok(MPI_Remove_error_string(code));
    ok(MPI_Error_string(code, text, &length));
    check_equal(length, 0);

    ok(MPI_Comm_create_errhandler(handler, &errhandler));
    ok(MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler));
    ok(MPI_Comm_call_errhandler(MPI_COMM_WORLD, code));
    check_equal(called_with, code);
    ok(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    ok(MPI_Errhandler_free(&errhandler));

    /* Values that the program did not add cannot be changed, and a class with codes cannot be removed. */
    check_class(MPI_Add_error_string(MPI_ERR_TAG, "mine"), MPI_ERR_ARG);
    check_class(MPI_Add_error_code(code, &found), MPI_ERR_ARG);
    check_class(MPI_Add_error_code(-5, &found), MPI_ERR_ARG);
    check_class(MPI_Remove_error_class(MPI_ERR_TAG), MPI_ERR_ARG);
    check_class(MPI_Remove_error_code(MPI_ERR_TAG), MPI_ERR_ARG);
    check_class(MPI_Remove_error_code(class), MPI_ERR_ARG);
    check_class(MPI_Remove_error_string(code), MPI_ERR_ARG);
    check(MPI_Remove_error_class(class) != MPI_SUCCESS);
    ok(MPI_Error_class(class, &found));

    /* A text is removed before its class or code. */
    ok(MPI_Add_error_string(code, "mine"));
    check_class(MPI_Remove_error_code(code), MPI_ERR_OTHER);
    ok(MPI_Remove_error_string(code));
    ok(MPI_Remove_error_code(code));
    ok(MPI_Add_error_string(class, "mine too"));
    check_class(MPI_Remove_error_class(class), MPI_ERR_OTHER);
    ok(MPI_Remove_error_string(class));
    ok(MPI_Remove_error_class(class));
    ok(MPI_Remove_error_code(of_tag));
    check_class(MPI_Error_class(code, &found), MPI_ERR_ARG);
    check_class(MPI_Error_string(class, text, &length), MPI_ERR_ARG);
    check_class(MPI_Remove_error_code(code), MPI_ERR_ARG);
    ok(MPI_Add_error_class(&found));
    check_equal(found, of_tag + 1);
    ok(MPI_Remove_error_class(found));
    return finish();
}
