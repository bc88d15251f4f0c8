/* Hints that the library uses are returned; unknown keys and invalid values are ignored. */
#include "file/file.h"

static int has_hint(MPI_File file, const char *key, const char *value)
{
    char text[MPI_MAX_INFO_VAL] = "";
    int flag = 0, length = sizeof text;
    MPI_Info info = MPI_INFO_NULL;
    ok(MPI_File_get_info(file, &info));
    check(info != MPI_INFO_NULL);
    ok(MPI_Info_get_string(info, key, &length, text, &flag));
    ok(MPI_Info_free(&info));
    return value ? flag && strcmp(text, value) == 0 : !flag;
}

int main(int argc, char **argv)
{
    char name[NAME];
    struct stat facts;
    MPI_File file;
    MPI_Info info;
    begin(&argc, &argv);
    name_of(name, "hints");
    ok(MPI_Info_create(&info));
    ok(MPI_Info_set(info, "access_style", "read_once,sequential"));
    ok(MPI_Info_set(info, "file_perm", "600"));
    ok(MPI_Info_set(info, "no_such_hint", "1"));
    ok(MPI_Info_set(info, "filename", "another"));
    umask(022);
    ok(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
    check(stat(name, &facts) == 0 && (facts.st_mode & 0777) == 0600);
    check(has_hint(file, "access_style", "read_once,sequential"));
    check(has_hint(file, "file_perm", "600"));
    check(has_hint(file, "no_such_hint", NULL));
    check(has_hint(file, "filename", name));
    ok(MPI_Info_set(info, "access_style", "random"));
    ok(MPI_File_set_info(file, info));
    check(has_hint(file, "access_style", "random"));
    ok(MPI_Info_set(info, "access_style", "sideways"));
    ok(MPI_File_set_info(file, info));
    ok(MPI_File_set_info(file, MPI_INFO_NULL));
    check(has_hint(file, "access_style", "random"));
    ok(MPI_Info_free(&info));
    ok(MPI_File_close(&file));
    remove_all(name);
    return finish();
}
