/* Shared windows: parts follow each other in rank order, every process reaches all of them by plain loads and stores,
 * and one-sided operations reach them as well. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return_errors();
    /* Rank r has r + 1 longs; with three or more ranks, rank 1 has none. */
    MPI_Aint own = size > 2 && rank == 1 ? 0 : rank + 1, bytes = -1;
    long *base = NULL, *there = NULL;
    int unit = -1, *flavor, flag = 0;
    MPI_Win win;
    ok(MPI_Win_allocate_shared(own * (MPI_Aint)sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    ok(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag));
    check(flag && *flavor == MPI_WIN_FLAVOR_SHARED);

    long *expected = NULL;
    for (int other = 0; other < size; other++) {
        MPI_Aint longs = size > 2 && other == 1 ? 0 : other + 1;
        ok(MPI_Win_shared_query(win, other, &bytes, &unit, &there));
        check_equal(bytes, longs * (MPI_Aint)sizeof(long));
        check_equal(unit, sizeof(long));
        if (longs > 0) {
            check(expected == NULL || there == expected);
            check(other != rank || there == base);
            expected = there + longs;
        }
    }
    ok(MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &there));
    check_equal(bytes, sizeof(long));
    long *first = there;
    check_class(MPI_Win_shared_query(win, size, &bytes, &unit, &there), MPI_ERR_RANK);
    check_class(MPI_Win_shared_query(win, -1, &bytes, &unit, &there), MPI_ERR_RANK);

    /* Each process writes its own part, then reads all parts. */
    for (int i = 0; i < own; i++)
        base[i] = 100 * rank + i;
    ok(MPI_Win_fence(0, win));
    long *at = first;
    for (int other = 0; other < size; other++)
        for (int i = 0; i < (size > 2 && other == 1 ? 0 : other + 1); i++)
            check_equal(*at++, 100 * other + i);
    ok(MPI_Win_fence(0, win));

    /* One-sided operations and plain stores of other processes access the same memory. */
    long one = 1, got = -1, value = 4711;
    ok(MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win));
    ok(MPI_Win_fence(0, win));
    check_equal(*first, size);
    ok(MPI_Win_fence(0, win));
    int last = size - 1;
    if (rank == 0)
        ok(MPI_Put(&value, 1, MPI_LONG, last, last, 1, MPI_LONG, win));
    ok(MPI_Win_fence(0, win));
    if (rank == last)
        check_equal(base[last], 4711);
    ok(MPI_Get(&got, 1, MPI_LONG, last, last, 1, MPI_LONG, win));
    ok(MPI_Win_fence(0, win));
    check_equal(got, 4711);
    ok(MPI_Win_free(&win));

    /* Parts that need not be contiguous; large forms; queries of windows of other kinds. */
    MPI_Info info;
    MPI_Aint wide;
    ok(MPI_Info_create(&info));
    ok(MPI_Info_set(info, "alloc_shared_noncontig", "true"));
    ok(MPI_Win_allocate_shared_c(10, 1, info, MPI_COMM_WORLD, &base, &win));
    ok(MPI_Info_free(&info));
    ok(MPI_Win_shared_query_c(win, last, &bytes, &wide, &there));
    check(bytes == 10 && wide == 1 && (MPI_Aint)there % 64 == 0);
    memset(base, rank, 10);
    ok(MPI_Win_fence(0, win));
    check_equal(((char *)there)[9], last);
    ok(MPI_Win_fence(0, win));
    ok(MPI_Win_free(&win));

    char memory[8];
    ok(MPI_Win_create(memory, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    ok(MPI_Win_shared_query(win, rank, &bytes, &unit, &there));
    check(bytes == 8 && (char *)there == memory);
    ok(MPI_Win_shared_query(win, (rank + 1) % size, &bytes, &unit, &there));
    check(size == 1 || (bytes == 0 && there == NULL));
    ok(MPI_Win_free(&win));

    ok(MPI_Win_allocate_shared(0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    ok(MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &there));
    check_equal(bytes, 0);
    ok(MPI_Win_free(&win));
    check_class(MPI_Win_allocate_shared((MPI_Aint)1 << 60, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
                MPI_ERR_NO_MEM);
    check_class(MPI_Win_allocate_shared(-1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), MPI_ERR_SIZE);
    return finish();
}
