/* MPI_Comm_idup: duplicates are usable once their requests are complete, in any order, and their messages are
 * separate. */
#include "check.h"

enum { COPIES = 20 };

int main(int argc, char **argv)
{
    MPI_Comm copies[COPIES], of_copy, with_info;
    MPI_Request requests[COPIES], request;
    MPI_Info info;
    int result = -1, flag = 0, value = -1;
    begin(&argc, &argv);
    for (int i = 0; i < COPIES; i++)
        ok(MPI_Comm_idup(MPI_COMM_WORLD, &copies[i], &requests[i]));
    if (rank == size - 1)
        ok(MPI_Waitall(COPIES, requests, MPI_STATUSES_IGNORE));
    else
        for (int i = COPIES - 1; i >= 0; i--)
            ok(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    for (int i = 0; i < COPIES; i++) {
        check(requests[i] == MPI_REQUEST_NULL);
        ok(MPI_Comm_compare(MPI_COMM_WORLD, copies[i], &result));
        check_equal(result, MPI_CONGRUENT);
    }
    /* Sent in one order, received in the other: each copy has its own messages. */
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Request sends[COPIES];
    int numbers[COPIES];
    for (int i = 0; i < COPIES; i++) {
        numbers[i] = i * 1000 + rank;
        ok(MPI_Isend(&numbers[i], 1, MPI_INT, next, 3, copies[i], &sends[i]));
    }
    for (int i = COPIES - 1; i >= 0; i--) {
        ok(MPI_Recv(&value, 1, MPI_INT, previous, 3, copies[i], MPI_STATUS_IGNORE));
        check_equal(value, i * 1000 + previous);
    }
    ok(MPI_Waitall(COPIES, sends, MPI_STATUSES_IGNORE));

    /* A duplicate of a duplicate, and hints. */
    ok(MPI_Comm_idup(copies[0], &of_copy, &request));
    while (!flag)
        ok(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    ok(MPI_Barrier(of_copy));
    ok(MPI_Info_create(&info));
    ok(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    ok(MPI_Comm_idup_with_info(of_copy, info, &with_info, &request));
    ok(MPI_Info_free(&info));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    char text[MPI_MAX_INFO_VAL];
    ok(MPI_Comm_get_info(with_info, &info));
    ok(MPI_Info_get(info, "mpi_assert_no_any_tag", sizeof text - 1, text, &flag));
    check(flag && strcmp(text, "true") == 0);
    ok(MPI_Info_free(&info));
    ok(MPI_Comm_free(&with_info));
    ok(MPI_Comm_free(&of_copy));
    for (int i = 0; i < COPIES; i++)
        ok(MPI_Comm_free(&copies[i]));
    return finish();
}
