/* Windows without memory of their own: operations reach what a process has attached, by its addresses, and are refused
 * elsewhere; pieces may be attached and detached at any time, and do not overlap. */
#include "check.h"

enum { LENGTH = 5000 };

int main(int argc, char **argv)
{
    MPI_Win win, other;
    MPI_Aint *there, address;
    int rank, size, flavor, flag, *value, *memory, *separate, data[LENGTH], back[LENGTH];
    begin(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    ok(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    void *attribute;
    ok(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &attribute, &flag));
    flavor = *(int *)attribute;
    check(flag && flavor == MPI_WIN_FLAVOR_DYNAMIC);
    ok(MPI_Win_get_attr(win, MPI_WIN_BASE, &attribute, &flag));
    check(flag && attribute == MPI_BOTTOM);
    ok(MPI_Win_get_attr(win, MPI_WIN_SIZE, &attribute, &flag));
    check_equal(*(MPI_Aint *)attribute, 0);

    ok(MPI_Alloc_mem(LENGTH * sizeof *memory, MPI_INFO_NULL, &memory));
    ok(MPI_Alloc_mem(64 * sizeof *separate, MPI_INFO_NULL, &separate));
    ok(MPI_Alloc_mem(size * (MPI_Aint)sizeof *there, MPI_INFO_NULL, &there));
    for (int i = 0; i < LENGTH; i++) {
        memory[i] = -1;
        data[i] = rank * 10000 + i;
    }
    separate[0] = 0;
    ok(MPI_Win_attach(win, memory, LENGTH * sizeof *memory));
    ok(MPI_Win_attach(win, separate, 8 * sizeof *separate));
    check_class(MPI_Win_attach(win, memory + 10, sizeof *memory), MPI_ERR_RMA_ATTACH);
    check_class(MPI_Win_attach(win, memory, 1), MPI_ERR_RMA_ATTACH);
    check_class(MPI_Win_detach(win, memory + 1), MPI_ERR_BASE);
    check_class(MPI_Win_attach(win, (void *)(MPI_Aint)4097, 64), MPI_ERR_BASE);
    /* No bytes exclude no others, and are detached like others. */
    ok(MPI_Win_attach(win, separate + 16, 0));
    ok(MPI_Win_attach(win, separate + 16, sizeof *separate));
    ok(MPI_Win_attach(win, NULL, 0));
    ok(MPI_Win_attach(win, NULL, 0));
    ok(MPI_Win_detach(win, NULL));
    ok(MPI_Win_detach(win, NULL));
    check_class(MPI_Win_detach(win, NULL), MPI_ERR_BASE);
    ok(MPI_Win_detach(win, separate + 16));
    ok(MPI_Win_detach(win, separate + 16));
    check_class(MPI_Win_detach(win, separate + 16), MPI_ERR_BASE);
    ok(MPI_Get_address(memory, &address));
    ok(MPI_Allgather(&address, 1, MPI_AINT, there, 1, MPI_AINT, MPI_COMM_WORLD));

    ok(MPI_Win_lock_all(0, win));
    ok(MPI_Put(data, LENGTH, MPI_INT, next, there[next], LENGTH, MPI_INT, win));
    ok(MPI_Win_flush(next, win));
    ok(MPI_Get(back, LENGTH, MPI_INT, next, there[next], LENGTH, MPI_INT, win));
    ok(MPI_Win_flush(next, win));
    for (int i = 0; i < LENGTH; i++)
        check_equal(back[i], data[i]);
    ok(MPI_Barrier(MPI_COMM_WORLD));
    check_equal(memory[LENGTH - 1], previous * 10000 + LENGTH - 1);

    /* The other piece, by a datatype of absolute addresses over both. */
    MPI_Aint own_separate, separate_there;
    ok(MPI_Get_address(separate, &own_separate));
    ok(MPI_Sendrecv(&own_separate, 1, MPI_AINT, previous, 0, &separate_there, 1, MPI_AINT, next, 0, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    MPI_Datatype both;
    int ones[2] = {1, 1}, pair[2] = {77, 88}, before = -1, one = 1;
    MPI_Aint places[2] = {there[next], separate_there};
    ok(MPI_Type_create_hindexed(2, ones, places, MPI_INT, &both));
    ok(MPI_Type_commit(&both));
    ok(MPI_Put(pair, 2, MPI_INT, next, 0, 1, both, win));
    ok(MPI_Win_flush(next, win));
    ok(MPI_Fetch_and_op(&one, &before, MPI_INT, next, separate_there, MPI_SUM, win));
    ok(MPI_Win_flush(next, win));
    check_equal(before, 88);
    ok(MPI_Type_free(&both));
    ok(MPI_Barrier(MPI_COMM_WORLD));
    check_equal(memory[0], 77);
    check_equal(separate[0], 89);

    /* What is not attached is refused, and changes nothing. */
    ok(MPI_Put(data, 1, MPI_INT, next, separate_there + 8 * (MPI_Aint)sizeof(int), 1, MPI_INT, win));
    check_class(MPI_Win_flush(next, win), MPI_ERR_RMA_RANGE);
    ok(MPI_Win_flush(next, win));
    MPI_Request request;
    ok(MPI_Raccumulate(&one, 1, MPI_INT, next, separate_there + 4096 * 4096, 1, MPI_INT, MPI_SUM, win, &request));
    check_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_RMA_RANGE);
    ok(MPI_Get(back, 1, MPI_INT, next, separate_there + 4096 * 4096, 1, MPI_INT, win));
    check_class(MPI_Win_flush(next, win), MPI_ERR_RMA_RANGE);
    ok(MPI_Fetch_and_op(&one, &before, MPI_INT, next, separate_there + 4096 * 4096, MPI_SUM, win));
    check_class(MPI_Win_flush(next, win), MPI_ERR_RMA_RANGE);
    ok(MPI_Rget(back, 1, MPI_INT, next, separate_there + 4096 * 4096, 1, MPI_INT, win, &request));
    check_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_RMA_RANGE);
    ok(MPI_Win_unlock_all(win));
    ok(MPI_Barrier(MPI_COMM_WORLD));

    /* Fences, after one piece was detached and another attached. */
    ok(MPI_Win_detach(win, separate));
    ok(MPI_Alloc_mem(sizeof *value, MPI_INFO_NULL, &value));
    *value = 5;
    ok(MPI_Win_attach(win, value, sizeof *value));
    ok(MPI_Get_address(value, &address));
    ok(MPI_Allgather(&address, 1, MPI_AINT, there, 1, MPI_AINT, MPI_COMM_WORLD));
    ok(MPI_Win_fence(0, win));
    ok(MPI_Accumulate(&rank, 1, MPI_INT, next, there[next], 1, MPI_INT, MPI_SUM, win));
    ok(MPI_Win_fence(0, win));
    check_equal(*value, 5 + previous);
    ok(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    ok(MPI_Win_detach(win, value));
    ok(MPI_Win_free(&win));

    ok(MPI_Win_create(memory, sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other));
    ok(MPI_Win_set_errhandler(other, MPI_ERRORS_RETURN));
    check_class(MPI_Win_attach(other, separate, 4), MPI_ERR_RMA_FLAVOR);
    check_class(MPI_Win_detach(other, separate), MPI_ERR_RMA_FLAVOR);
    ok(MPI_Win_free(&other));
    ok(MPI_Free_mem(memory));
    ok(MPI_Free_mem(separate));
    ok(MPI_Free_mem(there));
    ok(MPI_Free_mem(value));
    return finish();
}
