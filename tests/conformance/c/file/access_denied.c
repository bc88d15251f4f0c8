/* A file without the system's permission is MPI_ERR_ACCESS. The program changes its user id, because root has all
 * permissions. */
#define _GNU_SOURCE
#include "file/file.h"

int main(int argc, char **argv)
{
    char folder[NAME], name[NAME + 8];
    MPI_File file;
    begin(&argc, &argv);
    name_of(folder, "closed");
    check_equal(mkdir(folder, 0755), 0);
    snprintf(name, sizeof name, "%s/file", folder);
    make(name, "x", 1);
    check_equal(chmod(name, 0444), 0);
    check_equal(chmod(folder, 0555), 0);
    if (geteuid() == 0)
        check_equal(seteuid(65534), 0);
    check_class(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_ERR_ACCESS);
    check_class(MPI_File_delete(name, MPI_INFO_NULL), MPI_ERR_ACCESS);
    ok(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    ok(MPI_File_close(&file));
    strcat(name, "2");
    int code = MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    check_class(code, MPI_ERR_ACCESS);
    check(has(code, name) && has(code, "EACCES"));
    if (getuid() == 0)
        check_equal(seteuid(0), 0);
    name[strlen(name) - 1] = 0;
    check_equal(chmod(folder, 0755), 0);
    unlink(name);
    check_equal(rmdir(folder), 0);
    return finish();
}
