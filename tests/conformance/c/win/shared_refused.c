/* Processes that may not share memory cannot create a shared window, which is an error; they can create an allocated
 * one. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return_errors();
    long *base = NULL, value = 9;
    MPI_Win win = MPI_WIN_NULL;
    check_class(MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), MPI_ERR_RMA_SHARED);
    check(win == MPI_WIN_NULL && base == NULL);
    ok(MPI_Win_allocate(8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    ok(MPI_Win_fence(0, win));
    ok(MPI_Put(&value, 1, MPI_LONG, (rank + 1) % size, 0, 1, MPI_LONG, win));
    ok(MPI_Win_fence(0, win));
    check_equal(*base, 9);
    ok(MPI_Win_free(&win));
    return finish();
}
