/* Fetching accumulations: every process gets another value of a counter, one process succeeds with a swap, MPI_NO_OP
 * only reads. */
#include "check.h"

enum { TICKETS = 40, LONG = 300000 };

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    long memory[8] = {0}, one = 1;
    MPI_Win win;
    ok(MPI_Win_create(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    ok(MPI_Win_fence(0, win));

    /* Tickets: all different, those of one process in the order of its calls. */
    long tickets[TICKETS], all[64][TICKETS];
    for (int i = 0; i < TICKETS; i++)
        ok(MPI_Fetch_and_op(&one, &tickets[i], MPI_LONG, 0, 3, MPI_SUM, win));
    ok(MPI_Win_fence(0, win));
    ok(MPI_Allgather(tickets, TICKETS, MPI_LONG, all, TICKETS, MPI_LONG, MPI_COMM_WORLD) );
    char *taken = calloc((size_t)size, TICKETS);
    for (int origin = 0; origin < size; origin++)
        for (int i = 0; i < TICKETS; i++) {
            long ticket = all[origin][i];
            check(ticket >= 0 && ticket < (long)size * TICKETS);
            check(i == 0 || ticket > all[origin][i - 1]);
            if (ticket >= 0 && ticket < (long)size * TICKETS)
                check_equal(taken[ticket]++, 0);
        }
    free(taken);
    if (rank == 0)
        check_equal(memory[3], (long)size * TICKETS);

    /* One process succeeds. */
    long free_word = 0, mine = 100 + rank, seen = -1;
    ok(MPI_Compare_and_swap(&mine, &free_word, &seen, MPI_LONG, size - 1, 5, win));
    ok(MPI_Win_fence(0, win));
    int won = seen == 0, winners = 0;
    ok(MPI_Allreduce(&won, &winners, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    check_equal(winners, 1);
    check(won || (seen >= 100 && seen < 100 + size));
    long winner = -1;
    ok(MPI_Fetch_and_op(NULL, &winner, MPI_LONG, size - 1, 5, MPI_NO_OP, win));
    ok(MPI_Win_fence(0, win));
    if (won)
        check_equal(winner, mine);
    else
        check_equal(winner, seen);
    /* A compare that does not match changes nothing. */
    long other = 7;
    ok(MPI_Compare_and_swap(&other, &free_word, &seen, MPI_LONG, size - 1, 5, win));
    ok(MPI_Win_fence(0, win));
    check_equal(seen, winner);
    if (rank == size - 1)
        check_equal(memory[5], winner);
    ok(MPI_Win_free(&win));

    /* Long ones, and reading with MPI_NO_OP, where the origin buffer is ignored. */
    double *field, *data = malloc(LONG * sizeof *data), *before = malloc(LONG * sizeof *before);
    ok(MPI_Win_allocate(LONG * (MPI_Aint)sizeof *field, sizeof *field, MPI_INFO_NULL, MPI_COMM_WORLD, &field, &win));
    for (int i = 0; i < LONG; i++) {
        field[i] = i;
        data[i] = 2;
    }
    int next = (rank + 1) % size;
    ok(MPI_Win_fence(0, win));
    ok(MPI_Get_accumulate(data, LONG, MPI_DOUBLE, before, LONG, MPI_DOUBLE, next, 0, LONG, MPI_DOUBLE, MPI_PROD, win));
    ok(MPI_Win_fence(0, win));
    for (int i = 0; i < LONG; i++) {
        check(before[i] == i);
        check(field[i] == 2.0 * i);
    }
    memset(before, 0, LONG * sizeof *before);
    ok(MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, before, LONG, MPI_DOUBLE, next, 0, LONG, MPI_DOUBLE, MPI_NO_OP,
                          win));
    ok(MPI_Win_fence(0, win));
    for (int i = 0; i < LONG; i++)
        check(before[i] == 2.0 * i && field[i] == 2.0 * i);
    ok(MPI_Get_accumulate(data, 1, MPI_DOUBLE, before, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, MPI_SUM, win));
    ok(MPI_Win_fence(0, win));
    ok(MPI_Win_free(&win));
    free(data);
    free(before);

    /* Pairs are fetched without their padding. */
    struct {
        short value;
        int index;
    } pair = {3, 4}, larger = {5, 1}, was = {0, 0};
    ok(MPI_Win_create(&pair, sizeof pair, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    ok(MPI_Win_fence(0, win));
    ok(MPI_Get_accumulate(&larger, 1, MPI_SHORT_INT, &was, 1, MPI_SHORT_INT, next, 0, 1, MPI_SHORT_INT, MPI_MAXLOC,
                          win));
    ok(MPI_Win_fence(0, win));
    check(was.value == 3 && was.index == 4 && pair.value == 5 && pair.index == 1);
    ok(MPI_Win_free(&win));
    return finish();
}
