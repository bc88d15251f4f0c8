/* Names that the program gives are one line of an error's text: quotation marks and line breaks are escaped. A single
 * item is singular. */
#include "check.h"

#include <string.h>

static void check_text(int code, const char *part)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    ok(MPI_Error_string(code, text, &length));
    check(strstr(text, part) != NULL && strchr(text, '\n') == NULL);
    if (!strstr(text, part))
        fprintf(stderr, "rank %d: %s\n", rank, text);
}

int main(int argc, char **argv)
{
    int data[2] = {1, 2}, position = 0;
    char room[1];
    MPI_Comm comm;
    MPI_Win win;
    MPI_Info info;
    MPI_File file;
    begin(&argc, &argv);
    return_errors();
    ok(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    ok(MPI_Comm_set_name(comm, "a \"quoted\"\nname"));
    check_text(MPI_Send(data, 1, MPI_INT, 5, 0, comm), "communicator \"a \\\"quoted\\\"\\nname\"");
    check_text(MPI_Send(data, 1, MPI_INT, 5, 0, comm), "has 1 process, rank 0");

    ok(MPI_Win_create(data, sizeof data, 1, MPI_INFO_NULL, comm, &win));
    ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    ok(MPI_Win_set_name(win, "w\"i\nn"));
    ok(MPI_Win_fence(0, win));
    check_text(MPI_Put(data, 1, MPI_INT, 0, 99, 1, MPI_INT, win), "window \"w\\\"i\\nn\"");
    check_text(MPI_Put(data, 1, MPI_INT, 0, 99, 1, MPI_INT, win), "in units of 1 byte that is byte 99");
    ok(MPI_Win_fence(0, win));
    ok(MPI_Win_free(&win));

    ok(MPI_Info_create(&info));
    check_text(MPI_Info_delete(info, "k\"e\ny"), "\"k\\\"e\\ny\"");
    ok(MPI_Info_free(&info));
    check_text(MPI_File_open(comm, "no\"such\nfile", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), "\"no\\\"such\\nfile\"");
    check_text(MPI_Pack(data, 2, MPI_CHAR, room, 1, &position, comm), "the data have 2 bytes, but the room");
    ok(MPI_Comm_free(&comm));
    return finish();
}
