/* A write beyond the file size limit of the process is an error and not a deadly signal; the part within it is
 * written. */
#define _GNU_SOURCE
#include "file/file.h"
#include <signal.h>
#include <sys/resource.h>

static volatile int signals;

static void seen(int number)
{
    signals += number == SIGXFSZ;
}

int main(int argc, char **argv)
{
    char name[NAME];
    static char data[3000];
    struct rlimit limit;
    MPI_File file;
    MPI_Offset at = -1;
    sigset_t mask;
    begin(&argc, &argv);
    name_of(name, "limit");
    ok(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    getrlimit(RLIMIT_FSIZE, &limit);
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 2000;
    check_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    /* First with the default action, which would end the process, then with a handler, which is not called. */
    for (int round = 0; round < 2; round++) {
        ok(MPI_File_write_at(file, 0, data, 2000, MPI_BYTE, MPI_STATUS_IGNORE));
        int code = MPI_File_write(file, data, 3000, MPI_BYTE, MPI_STATUS_IGNORE);
        check_class(code, MPI_ERR_QUOTA);
        check(has(code, name) && has(code, "EFBIG"));
        ok(MPI_File_get_position(file, &at));
        check_equal(at, 0);
        check_class(MPI_File_set_size(file, 5000), MPI_ERR_QUOTA);
        check_class(MPI_File_preallocate(file, 5000), MPI_ERR_QUOTA);
        check_equal(size_of(name), 2000);
        signal(SIGXFSZ, seen);
    }
    check_equal(signals, 0);
    sigprocmask(SIG_SETMASK, NULL, &mask);
    check(!sigismember(&mask, SIGXFSZ) && !sigismember(&mask, SIGPIPE));
    limit.rlim_cur = before;
    check_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ok(MPI_File_write(file, data, 3000, MPI_BYTE, MPI_STATUS_IGNORE));
    check_equal(size_of(name), 3000);
    ok(MPI_File_close(&file));
    unlink(name);
    return finish();
}
