/* Each real cause has its error class, and the text names the file and the system error. */
#include "file/file.h"

int main(int argc, char **argv)
{
    char name[NAME], link[NAME], below[NAME], *longer;
    char data[8] = "1234567";
    int code;
    MPI_File file, stale, forged = (MPI_File)(intptr_t)0x7fffffff;
    MPI_Info freed;
    MPI_Offset at;
    begin(&argc, &argv);
    return_errors();
    name_of(name, "cause");
    name_of(link, "link");
    MPI_Comm self = MPI_COMM_SELF;
    const int create = MPI_MODE_CREATE | MPI_MODE_RDWR;

    code = MPI_File_open(self, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    check_class(code, MPI_ERR_NO_SUCH_FILE);
    check(has(code, "MPI_File_open") && has(code, name) && has(code, "No such file or directory (ENOENT)"));
    code = MPI_File_delete(name, MPI_INFO_NULL);
    check_class(code, MPI_ERR_NO_SUCH_FILE);
    check(has(code, "MPI_File_delete") && has(code, name));

    make(name, data, 8);
    check_class(MPI_File_open(self, name, create | MPI_MODE_EXCL, MPI_INFO_NULL, &file), MPI_ERR_FILE_EXISTS);

    /* Invalid names. */
    check_class(MPI_File_open(self, "", create, MPI_INFO_NULL, &file), MPI_ERR_BAD_FILE);
    check_class(MPI_File_delete("", MPI_INFO_NULL), MPI_ERR_BAD_FILE);
    longer = malloc(10000);
    memset(longer, 'x', 9999);
    longer[9999] = 0;
    code = MPI_File_open(self, longer, create, MPI_INFO_NULL, &file);
    check_class(code, MPI_ERR_BAD_FILE);
    check(has(code, "xxxx"));
    longer[300] = 0;
    check_class(MPI_File_open(self, longer, create, MPI_INFO_NULL, &file), MPI_ERR_BAD_FILE);
    free(longer);
    check_class(MPI_File_open(self, "/", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_BAD_FILE);
    check_class(MPI_File_open(self, "/", MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_ERR_BAD_FILE);
    check_class(MPI_File_delete("/", MPI_INFO_NULL), MPI_ERR_BAD_FILE);
    snprintf(below, NAME, "%.200s/below", name);
    check_class(MPI_File_open(self, below, MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_BAD_FILE);
    check_equal(symlink(link, link), 0);
    check_class(MPI_File_open(self, link, MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_BAD_FILE);
    unlink(link);

    /* A program that is running cannot be written. */
    code = MPI_File_open(self, "/proc/self/exe", MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    check_class(code, MPI_ERR_FILE_IN_USE);
    check(has(code, "ETXTBSY"));

    /* Reading a write-only file, writing a read-only one. */
    ok(MPI_File_open(self, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    code = MPI_File_write(file, data, 1, MPI_CHAR, MPI_STATUS_IGNORE);
    check_class(code, MPI_ERR_READ_ONLY);
    check(has(code, name) && has(code, "MPI_MODE_RDONLY"));
    check_class(MPI_File_write_at(file, 0, data, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    check_class(MPI_File_set_size(file, 1), MPI_ERR_READ_ONLY);
    check_class(MPI_File_preallocate(file, 100), MPI_ERR_READ_ONLY);
    ok(MPI_File_close(&file));
    ok(MPI_File_open(self, name, MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    check_class(MPI_File_read(file, data, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    check_class(MPI_File_read_at(file, 0, data, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);

    /* Arguments. */
    check_class(MPI_File_write_at(file, -1, data, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    check_class(MPI_File_write_at(file, INT64_MAX, data, 8, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    check_class(MPI_File_write(file, data, -1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    check_class(MPI_File_write(file, data, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    check_class(MPI_File_write(file, NULL, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
    check_class(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    check_class(MPI_File_seek(file, -9, MPI_SEEK_END), MPI_ERR_ARG);
    check_class(MPI_File_seek(file, 0, 77), MPI_ERR_ARG);
    ok(MPI_File_seek(file, 5, MPI_SEEK_SET));
    check_class(MPI_File_seek(file, INT64_MAX, MPI_SEEK_CUR), MPI_ERR_ARG);
    check_class(MPI_File_seek(file, -6, MPI_SEEK_CUR), MPI_ERR_ARG);
    ok(MPI_File_get_position(file, &at));
    check_equal(at, 5);
    check_class(MPI_File_set_size(file, -1), MPI_ERR_ARG);
    check_class(MPI_File_get_size(file, NULL), MPI_ERR_ARG);
    check_equal(size_of(name), 8);
    stale = file;
    ok(MPI_File_close(&file));

    /* Handles. */
    MPI_File dead[] = {MPI_FILE_NULL, stale, forged};
    for (int i = 0; i < 3; i++) {
        MPI_File copy = dead[i];
        check_class(MPI_File_get_size(dead[i], &at), MPI_ERR_FILE);
        check_class(MPI_File_read(dead[i], data, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_FILE);
        check_class(MPI_File_sync(dead[i]), MPI_ERR_FILE);
        check_class(MPI_File_close(&copy), MPI_ERR_FILE);
    }
    check_class(MPI_File_open(MPI_COMM_NULL, name, create, MPI_INFO_NULL, &file), MPI_ERR_COMM);
    check_class(MPI_File_open(self, NULL, create, MPI_INFO_NULL, &file), MPI_ERR_ARG);
    check_class(MPI_File_open(self, name, create, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    MPI_Info_create(&freed);
    MPI_Info copy = freed;
    MPI_Info_free(&freed);
    check_class(MPI_File_open(self, name, create, copy, &file), MPI_ERR_INFO);
    check_class(MPI_File_delete(name, copy), MPI_ERR_INFO);
    check(exists(name));

    /* Devices. */
    ok(MPI_File_open(self, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    code = MPI_File_write(file, data, 8, MPI_CHAR, MPI_STATUS_IGNORE);
    check_class(code, MPI_ERR_NO_SPACE);
    check(has(code, "MPI_File_write") && has(code, "/dev/full") && has(code, "ENOSPC"));
    ok(MPI_File_get_position(file, &at));
    check_equal(at, 0);
    ok(MPI_File_sync(file));
    ok(MPI_File_close(&file));
    /* No memory is mapped at this address, so a read of it fails. */
    ok(MPI_File_open(self, "/proc/self/mem", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    code = MPI_File_read_at(file, 0, data, 8, MPI_CHAR, MPI_STATUS_IGNORE);
    check_class(code, MPI_ERR_IO);
    check(has(code, "EIO"));
    ok(MPI_File_close(&file));
    /* A pipe has no positions. */
    unlink(link);
    check_equal(mkfifo(link, 0600), 0);
    ok(MPI_File_open(self, link, MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    check_class(MPI_File_write_at(file, 0, data, 8, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_UNSUPPORTED_OPERATION);
    check_class(MPI_File_get_size(file, &at), MPI_ERR_UNSUPPORTED_OPERATION);
    ok(MPI_File_close(&file));
    unlink(link);
    ok(MPI_File_delete(name, MPI_INFO_NULL));
    check(!exists(name));
    return finish();
}
