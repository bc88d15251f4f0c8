/* The text of a returned error code names the call that failed and the value that was wrong, not only the class. */
#include "check.h"

int main(int argc, char **argv)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = -1, word = 0;
    begin(&argc, &argv);
    return_errors();
    int code = MPI_Send(&word, 1, MPI_INT, 1234567, 0, MPI_COMM_WORLD);
    check_class(code, MPI_ERR_RANK);
    ok(MPI_Error_string(code, text, &length));
    check(strstr(text, "1234567") != NULL);
    check(strstr(text, "Send") != NULL);
    /* A later error does not change the text of the first code. */
    int other = MPI_Recv(&word, -7654, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    char again[MPI_MAX_ERROR_STRING];
    ok(MPI_Error_string(code, again, &length));
    check(strcmp(text, again) == 0);
    ok(MPI_Error_string(other, again, &length));
    check(strstr(again, "7654") != NULL);
    return finish();
}
