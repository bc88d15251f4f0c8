/* A process aborts itself while it holds locks of a window: the lock that it held alone goes to the next process, with
 * the lock under which elements are accumulated; one that it may share is an error, and no hang. Operations on its
 * memory, which all have mapped or nobody applies, end too. Where owners grant locks, that of its memory is lost. */
#include "check.h"

/* Whether the processes take locks in memory that they share. */
static int share_locks(void)
{
    MPI_Comm near;
    int together = 0;
    const char *set = getenv("FERRUM_WIN_SHARED_LOCKS");
    ok(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near));
    ok(MPI_Comm_size(near, &together));
    ok(MPI_Comm_free(&near));
    return together == size && (set == NULL || strcmp(set, "false") != 0);
}

int main(int argc, char **argv)
{
    MPI_Comm left;
    MPI_Win win;
    long *memory = NULL, one = 1, found = -1, own;
    int total = 0;
    begin(&argc, &argv);
    const int last = size - 1, create = argc > 1, shared = share_locks();
    ok(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    ok(MPI_Comm_split(MPI_COMM_WORLD, rank == last ? MPI_UNDEFINED : 0, rank, &left));
    if (create) {
        memory = &own;
        ok(MPI_Win_create(memory, sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    } else {
        ok(MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    }
    ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    *memory = 5;
    ok(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == last) {
        ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        ok(MPI_Win_lock(MPI_LOCK_SHARED, last, 0, win));
        ok(MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win));
        ok(MPI_Win_flush(0, win));
        for (int i = 0; i < last; i++)
            ok(MPI_Send(&one, 1, MPI_LONG, i, 0, MPI_COMM_WORLD));
        if (wrong == 0)
            MPI_Abort(MPI_COMM_SELF, 3);
        MPI_Abort(MPI_COMM_SELF, 4);
    }
    ok(MPI_Recv(&found, 1, MPI_LONG, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    /* All that are left want it, one after the other. */
    for (int i = 0; i < 20; i++) {
        ok(MPI_Win_lock(i % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, win));
        ok(MPI_Fetch_and_op(&one, &found, MPI_LONG, 0, 0, MPI_SUM, win));
        ok(MPI_Win_unlock(0, win));
        check(found >= 6 && found < 6 + 20 * last);
    }
    check_class(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, win), MPI_ERR_PROC_ABORTED);
    if (shared) {
        /* Nothing of the attempt is left: the lock can be shared. */
        ok(MPI_Win_lock(MPI_LOCK_SHARED, last, 0, win));
        int class = class_of(MPI_Get(&found, 1, MPI_LONG, last, 0, 1, MPI_LONG, win));
        int ended = class_of(MPI_Win_unlock(last, win));
        if (create)
            check(class == MPI_ERR_PROC_ABORTED || ended == MPI_ERR_PROC_ABORTED);
        else
            check(class == MPI_SUCCESS && ended == MPI_SUCCESS && found == 5);
    } else {
        check_class(MPI_Win_lock(MPI_LOCK_SHARED, last, 0, win), MPI_ERR_PROC_ABORTED);
        check_class(MPI_Win_lock_all(0, win), MPI_ERR_PROC_ABORTED);
        /* They have no lock that they have not got. */
        check_class(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    }
    ok(MPI_Barrier(left));
    if (rank == 0) {
        ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        check_equal(*memory, 6 + 20 * last);
        ok(MPI_Win_unlock(0, win));
    }
    ok(MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, left));
    if (rank == 0 && total == 0)
        printf("Those that are left found no errors\n");
    MPI_Finalize();
    return total != 0;
}
