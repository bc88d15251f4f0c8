/* Shared window memory beyond the file size limit of the process is an error in all processes, and no deadly signal;
 * a window that needs no shared memory is created. */
#define _GNU_SOURCE
#include "check.h"
#include <sys/resource.h>

int main(int argc, char **argv)
{
    struct rlimit limit;
    MPI_Win win = MPI_WIN_NULL;
    void *base = NULL;
    begin(&argc, &argv);
    return_errors();
    getrlimit(RLIMIT_FSIZE, &limit);
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 4096;
    check_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    check_class(MPI_Win_allocate_shared(100000, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), MPI_ERR_NO_MEM);
    check(win == MPI_WIN_NULL);
    ok(MPI_Win_allocate(100000, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    memset(base, 1, 100000);
    ok(MPI_Win_free(&win));
    limit.rlim_cur = before;
    check_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ok(MPI_Win_allocate_shared(100000, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    ok(MPI_Win_free(&win));
    return finish();
}
