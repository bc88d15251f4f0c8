/* Operations with requests: the origin's memory may be used again when the request is complete, what was read is there,
 * and the operation is complete at the target after the unlock. Long data, data with gaps, and lists of requests of
 * different kinds. With an argument the memory is the program's. */
#include "check.h"
#include <stdlib.h>

enum { LENGTH = 200000, FEW = 16 };

static int rank, size;

int main(int argc, char **argv)
{
    MPI_Win win;
    MPI_Aint bytes = LENGTH * (MPI_Aint)sizeof(int);
    int *memory, *data = malloc(LENGTH * sizeof *data), *back = calloc(LENGTH, sizeof *back);
    begin(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    if (argc > 1) {
        ok(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory));
        ok(MPI_Win_create(memory, bytes, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    } else {
        ok(MPI_Win_allocate(bytes, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    }
    for (int i = 0; i < LENGTH; i++) {
        memory[i] = 0;
        data[i] = rank * 1000 + i;
    }
    ok(MPI_Barrier(MPI_COMM_WORLD));
    ok(MPI_Win_lock_all(0, win));

    /* A long put, then the same elements back. */
    MPI_Request request;
    MPI_Status status;
    ok(MPI_Rput(data, LENGTH, MPI_INT, next, 0, LENGTH, MPI_INT, win, &request));
    ok(MPI_Wait(&request, &status));
    check(request == MPI_REQUEST_NULL);
    for (int i = 0; i < LENGTH; i++)
        data[i] = -1;
    ok(MPI_Rget(back, LENGTH, MPI_INT, next, 0, LENGTH, MPI_INT, win, &request));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < LENGTH; i++)
        check_equal(back[i], rank * 1000 + i);
    ok(MPI_Win_flush(next, win));
    ok(MPI_Barrier(MPI_COMM_WORLD));
    ok(MPI_Win_sync(win));
    check_equal(memory[LENGTH - 1], previous * 1000 + LENGTH - 1);
    ok(MPI_Barrier(MPI_COMM_WORLD));

    /* Many at once beside a message, with gaps on both sides. */
    MPI_Datatype every_second;
    MPI_Request requests[4 * FEW + 2];
    int one = 1, before[FEW], few[FEW], message = -1, count = 0;
    ok(MPI_Type_vector(FEW, 1, 2, MPI_INT, &every_second));
    ok(MPI_Type_commit(&every_second));
    for (int i = 0; i < 2 * FEW; i++)
        data[i] = i;
    ok(MPI_Put(data, 1, every_second, next, 0, 1, every_second, win));
    ok(MPI_Win_flush(next, win));
    ok(MPI_Irecv(&message, 1, MPI_INT, previous, 1, MPI_COMM_WORLD, &requests[count++]));
    ok(MPI_Rput(data, 1, every_second, next, 1000, 1, every_second, win, &requests[count++]));
    for (int i = 0; i < FEW; i++) {
        ok(MPI_Raccumulate(&one, 1, MPI_INT, next, 2 * i, 1, MPI_INT, MPI_SUM, win, &requests[count++]));
        ok(MPI_Rget_accumulate(&one, 1, MPI_INT, &before[i], 1, MPI_INT, next, 2 * i, 1, MPI_INT, MPI_SUM, win,
                               &requests[count++]));
        ok(MPI_Rget_accumulate(NULL, 0, MPI_INT, &few[i], 1, MPI_INT, next, 2 * i, 1, MPI_INT, MPI_NO_OP, win,
                               &requests[count++]));
    }
    ok(MPI_Send(&rank, 1, MPI_INT, next, 1, MPI_COMM_WORLD));
    ok(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    check_equal(message, previous);
    for (int i = 0; i < FEW; i++) {
        check_equal(before[i], 2 * i + 1);
        check_equal(few[i], 2 * i + 2);
    }
    /* Large counts. */
    int large = -1, former = -1;
    ok(MPI_Rput_c(&rank, 1, MPI_INT, next, 3000, 1, MPI_INT, win, &request));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    ok(MPI_Win_flush(next, win));
    ok(MPI_Raccumulate_c(&one, 1, MPI_INT, next, 3000, 1, MPI_INT, MPI_SUM, win, &request));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    ok(MPI_Rget_accumulate_c(&one, 1, MPI_INT, &former, 1, MPI_INT, next, 3000, 1, MPI_INT, MPI_SUM, win, &request));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_equal(former, rank + 1);
    ok(MPI_Win_flush(next, win));
    ok(MPI_Rget_c(&large, 1, MPI_INT, next, 3000, 1, MPI_INT, win, &request));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_equal(large, rank + 2);

    /* To no process: complete at once. */
    int flag = 0;
    ok(MPI_Rput(data, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &request));
    ok(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    check(flag);
    /* The unlock completes what was not waited for at the target, the wait comes later. */
    ok(MPI_Raccumulate(&one, 1, MPI_INT, next, 1, 1, MPI_INT, MPI_REPLACE, win, &request));
    ok(MPI_Win_unlock_all(win));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    ok(MPI_Barrier(MPI_COMM_WORLD));
    check_equal(memory[0], 2);
    check_equal(memory[1], 1);
    check_equal(memory[2], 4);
    check_equal(memory[3], previous * 1000 + 3);
    check_equal(memory[1000], 0);
    check_equal(memory[1002], 2);
    check_equal(memory[1003], previous * 1000 + 1003);
    ok(MPI_Type_free(&every_second));
    ok(MPI_Barrier(MPI_COMM_WORLD));
    ok(MPI_Win_free(&win));
    if (argc > 1)
        ok(MPI_Free_mem(memory));
    free(data);
    free(back);
    return finish();
}
