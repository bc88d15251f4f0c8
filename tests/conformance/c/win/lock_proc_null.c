/* MPI_Win_lock for MPI_PROC_NULL begins an epoch in which operations on MPI_PROC_NULL are legal and have no effect. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Win win;
    MPI_Request request;
    int *memory, value = 1;
    begin(&argc, &argv);
    ok(MPI_Win_allocate(sizeof value, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    *memory = 5;
    ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, win));
    ok(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
    ok(MPI_Get(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
    ok(MPI_Accumulate(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, win));
    ok(MPI_Rput(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &request));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    ok(MPI_Win_flush(MPI_PROC_NULL, win));
    /* Beside an epoch for a process. */
    ok(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    ok(MPI_Put(&value, 1, MPI_INT, rank, 0, 1, MPI_INT, win));
    ok(MPI_Win_unlock(rank, win));
    ok(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
    ok(MPI_Win_unlock(MPI_PROC_NULL, win));
    check_equal(value, 1);
    check_equal(*memory, 1);
    /* All ranks, and groups. */
    ok(MPI_Win_lock_all(0, win));
    ok(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
    ok(MPI_Win_unlock_all(win));
    ok(MPI_Win_free(&win));
    return finish();
}
