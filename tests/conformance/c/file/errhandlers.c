/* Errors of files are returned by default; the handler of MPI_FILE_NULL applies to calls without a file, and to
 * files opened afterwards. */
#include "file/file.h"

static int calls, last_code;
static MPI_File last_file;

static void first(MPI_File *file, int *code, ...)
{
    calls++;
    last_file = *file;
    last_code = *code;
}

static void second(MPI_File *file, int *code, ...)
{
    calls += 100;
    last_file = *file;
}

int main(int argc, char **argv)
{
    char name[NAME];
    int byte = 0, code;
    MPI_Errhandler one, two, found;
    MPI_File old, new, copy;
    begin(&argc, &argv);
    name_of(name, "handlers");
    MPI_Comm self = MPI_COMM_SELF;
    name[strlen(name) - 1] = (char)('a' + rank);
    /* Errors of a communicator end the job: these errors do not. */
    ok(MPI_File_get_errhandler(MPI_FILE_NULL, &found));
    check(found == MPI_ERRORS_RETURN);
    check_class(MPI_File_open(self, name, MPI_MODE_RDWR, MPI_INFO_NULL, &old), MPI_ERR_NO_SUCH_FILE);
    check_class(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    check_class(MPI_File_sync(MPI_FILE_NULL), MPI_ERR_FILE);

    ok(MPI_File_open(self, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &old));
    ok(MPI_File_get_errhandler(old, &found));
    check(found == MPI_ERRORS_RETURN);
    ok(MPI_File_create_errhandler(first, &one));
    ok(MPI_File_create_errhandler(second, &two));
    ok(MPI_File_set_errhandler(MPI_FILE_NULL, one));
    ok(MPI_File_get_errhandler(MPI_FILE_NULL, &found));
    check(found == one);
    ok(MPI_Errhandler_free(&found));
    /* Files that were open before keep their handler. */
    check_class(MPI_File_read(old, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    check_equal(calls, 0);

    code = MPI_File_delete("", MPI_INFO_NULL);
    check(calls == 1 && last_file == MPI_FILE_NULL && last_code == code);
    code = MPI_File_open(self, "", MPI_MODE_RDWR, MPI_INFO_NULL, &new);
    check(calls == 2 && last_file == MPI_FILE_NULL && last_code == code);
    code = MPI_File_sync(MPI_FILE_NULL);
    check(calls == 3 && last_file == MPI_FILE_NULL && last_code == code);

    ok(MPI_File_open(self, name, MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &new));
    ok(MPI_File_get_errhandler(new, &found));
    check(found == one);
    ok(MPI_Errhandler_free(&found));
    code = MPI_File_read(new, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE);
    check(calls == 4 && last_file == new && last_code == code);
    ok(MPI_File_call_errhandler(new, MPI_ERR_IO));
    check(calls == 5 && last_code == MPI_ERR_IO);

    /* A handler exists while a file uses it. */
    ok(MPI_File_set_errhandler(new, two));
    ok(MPI_Errhandler_free(&two));
    check_class(MPI_File_read(new, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    check_equal(calls, 105);
    ok(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    ok(MPI_Errhandler_free(&one));
    /* A file is closed, and its handler called, when the closing fails because the name is now another file's. */
    unlink(name);
    check_equal(mkdir(name, 0700), 0);
    copy = new;
    check_class(MPI_File_close(&new), MPI_ERR_BAD_FILE);
    check_equal(rmdir(name), 0);
    check(calls == 205 && last_file == copy && new == MPI_FILE_NULL);
    check_class(MPI_File_close(&copy), MPI_ERR_FILE);
    check_equal(calls, 205);
    ok(MPI_File_close(&old));
    check_class(MPI_File_set_errhandler(old, MPI_ERRORS_RETURN), MPI_SUCCESS);
    return finish();
}
