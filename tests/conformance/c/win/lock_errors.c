/* Calls that do not fit the epochs of a window are errors of class MPI_ERR_RMA_SYNC and change nothing; wrong types of
 * locks, ranks, groups and assertions are errors of their classes. */
#include "check.h"

/* Whether the text of a code has a part. */
static int says(int code, const char *part)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(code, text, &length);
    return strstr(text, part) != NULL;
}

int main(int argc, char **argv)
{
    MPI_Win win;
    MPI_Group all, self;
    MPI_Request request;
    int rank, size, flag, *memory, value = 1;
    begin(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ok(MPI_Win_allocate(sizeof value, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    ok(MPI_Comm_group(MPI_COMM_WORLD, &all));
    ok(MPI_Comm_group(MPI_COMM_SELF, &self));

    check_class(MPI_Put(&value, 1, MPI_INT, rank, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    check_class(MPI_Win_unlock(rank, win), MPI_ERR_RMA_SYNC);
    check_class(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    check_class(MPI_Win_flush(rank, win), MPI_ERR_RMA_SYNC);
    check_class(MPI_Win_flush_local(rank, win), MPI_ERR_RMA_SYNC);
    check_class(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
    check_class(MPI_Win_flush_local_all(win), MPI_ERR_RMA_SYNC);
    check_class(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    check_class(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
    check_class(MPI_Win_test(win, &flag), MPI_ERR_RMA_SYNC);

    check(says(MPI_Win_flush(rank, win), "(no epoch)"));

    check_class(MPI_Win_lock(MPI_LOCK_SHARED + 17, rank, 0, win), MPI_ERR_LOCKTYPE);
    check_class(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win), MPI_ERR_RANK);
    check_class(MPI_Win_lock(MPI_LOCK_SHARED, rank, MPI_MODE_NOPUT, win), MPI_ERR_ASSERT);
    check_class(MPI_Win_lock_all(MPI_MODE_NOSTORE, win), MPI_ERR_ASSERT);
    check_class(MPI_Win_start(all, MPI_MODE_NOPUT, win), MPI_ERR_ASSERT);
    check_class(MPI_Win_post(all, MPI_MODE_NOPRECEDE, win), MPI_ERR_ASSERT);

    ok(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    check_class(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win), MPI_ERR_RMA_SYNC);
    char of_rank[60];
    snprintf(of_rank, sizeof of_rank, "(epoch of MPI_Win_lock of rank %d)", rank);
    check(says(MPI_Win_lock_all(0, win), of_rank));
    check_class(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    check_class(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
    check_class(MPI_Win_start(self, 0, win), MPI_ERR_RMA_SYNC);
    check_class(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
    check_class(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
    if (size > 1) {
        int other = (rank + 1) % size;
        check_class(MPI_Put(&value, 1, MPI_INT, other, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
        check_class(MPI_Rput(&value, 1, MPI_INT, other, 0, 1, MPI_INT, win, &request), MPI_ERR_RMA_SYNC);
        check_class(MPI_Win_flush(other, win), MPI_ERR_RMA_SYNC);
    }
    ok(MPI_Put(&value, 1, MPI_INT, rank, 0, 1, MPI_INT, win));
    ok(MPI_Win_unlock(rank, win));
    ok(MPI_Win_lock_all(0, win));
    check_class(MPI_Win_unlock(rank, win), MPI_ERR_RMA_SYNC);
    check(says(MPI_Win_unlock(rank, win), "(epoch of MPI_Win_lock_all)"));
    check_class(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win), MPI_ERR_RMA_SYNC);
    ok(MPI_Win_unlock_all(win));

    /* Requests need locks. */
    ok(MPI_Win_fence(0, win));
    check_class(MPI_Rput(&value, 1, MPI_INT, rank, 0, 1, MPI_INT, win, &request), MPI_ERR_RMA_SYNC);
    ok(MPI_Put(&value, 1, MPI_INT, rank, 0, 1, MPI_INT, win));
    check_class(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win), MPI_ERR_RMA_SYNC);
    check_class(MPI_Win_post(self, 0, win), MPI_ERR_RMA_SYNC);
    ok(MPI_Win_fence(0, win));

    /* A window of this process alone. */
    MPI_Win alone;
    ok(MPI_Win_allocate(sizeof value, 1, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &alone));
    ok(MPI_Win_set_errhandler(alone, MPI_ERRORS_RETURN));
    if (size > 1)
        check_class(MPI_Win_post(all, 0, alone), MPI_ERR_GROUP);
    ok(MPI_Win_post(self, 0, alone));
    check_class(MPI_Win_post(self, 0, alone), MPI_ERR_RMA_SYNC);
    ok(MPI_Win_start(self, 0, alone));
    check_class(MPI_Win_start(self, 0, alone), MPI_ERR_RMA_SYNC);
    check_class(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, alone), MPI_ERR_RMA_SYNC);
    check_class(MPI_Win_free(&alone), MPI_ERR_RMA_SYNC);
    check(says(MPI_Win_free(&alone), "(epoch of MPI_Win_start for 1 rank and MPI_Win_post)"));
    ok(MPI_Win_test(alone, &flag));
    check(!flag);
    ok(MPI_Win_complete(alone));
    ok(MPI_Win_wait(alone));
    ok(MPI_Win_free(&alone));
    ok(MPI_Group_free(&all));
    ok(MPI_Group_free(&self));
    ok(MPI_Win_free(&win));
    return finish();
}
