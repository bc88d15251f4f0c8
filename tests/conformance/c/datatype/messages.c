/* Messages of derived types, short to long: different layouts on both sides, parts of a type, absolute addresses, types
 * freed while an operation is under way, and the number of basic elements received. */
#include "check.h"

enum { ROWS = 700 };
static double grid[ROWS][ROWS], back[ROWS][ROWS];

static double value(int row, int column)
{
    return row * 1000.0 + column;
}

static void clear(void)
{
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++)
            back[i][j] = -1;
}

/* Exchanges `send` from `from` for what the other process sends, into `receive` at `into`. */
static void exchange(const void *from, int count, MPI_Datatype send, void *into, int number, MPI_Datatype receive)
{
    int other = size - 1 - rank;
    MPI_Request request;
    clear();
    ok(MPI_Irecv(into, number, receive, other, 1, MPI_COMM_WORLD, &request));
    ok(MPI_Send(from, count, send, other, 1, MPI_COMM_WORLD));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return_errors();
    if (size > 2 && rank > 1)
        return finish();
    if (size > 2)
        size = 2;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++)
            grid[i][j] = value(i, j);

    /* Columns to rows, and rows to columns: a transposition of n by n elements. */
    const int lengths[] = {1, 3, 17, 60, 200, ROWS};
    for (int i = 0; i < 6; i++) {
        int n = lengths[i];
        MPI_Datatype column, columns, block;
        ok(MPI_Type_vector(n, 1, ROWS, MPI_DOUBLE, &column));
        ok(MPI_Type_create_hvector(n, 1, sizeof(double), column, &columns));
        ok(MPI_Type_free(&column));
        ok(MPI_Type_vector(n, n, ROWS, MPI_DOUBLE, &block));
        ok(MPI_Type_commit(&columns));
        ok(MPI_Type_commit(&block));
        exchange(grid, 1, columns, back, 1, block);
        for (int r = 0; r < ROWS; r++)
            for (int c = 0; c < ROWS; c++)
                check(back[r][c] == (r < n && c < n ? value(c, r) : -1));
        exchange(grid, 1, block, back, 1, columns);
        check(back[n - 1][0] == value(0, n - 1) && (n == ROWS || back[0][n] == -1));
        exchange(grid, 1, columns, back, n * n, MPI_DOUBLE);
        check(back[0][0] == 0 && (&back[0][0])[n * n - 1] == value(n - 1, n - 1));
        exchange(grid, n * n, MPI_DOUBLE, back, 1, columns);
        check(back[n - 1][n - 1] == (&grid[0][0])[n * n - 1]);
        /* Backwards: the last element first. */
        MPI_Datatype backwards;
        ok(MPI_Type_vector(n, 1, -1, MPI_DOUBLE, &backwards));
        ok(MPI_Type_commit(&backwards));
        exchange(&grid[0][n - 1], 1, backwards, back, n, MPI_DOUBLE);
        for (int c = 0; c < n; c++)
            check(back[0][c] == value(0, n - 1 - c));
        ok(MPI_Type_free(&backwards));
        ok(MPI_Type_free(&columns));
        ok(MPI_Type_free(&block));
    }

    /* Absolute addresses, from and to MPI_BOTTOM. */
    MPI_Aint addresses[3];
    int counts[3] = {2, 1, 30000};
    MPI_Datatype absolute, into;
    ok(MPI_Get_address(&grid[5][7], &addresses[0]));
    ok(MPI_Get_address(&grid[3][1], &addresses[1]));
    ok(MPI_Get_address(&grid[100][0], &addresses[2]));
    ok(MPI_Type_create_hindexed(3, counts, addresses, MPI_DOUBLE, &absolute));
    ok(MPI_Type_commit(&absolute));
    for (int i = 0; i < 3; i++)
        addresses[i] = MPI_Aint_add(addresses[i], (char *)back - (char *)grid);
    ok(MPI_Type_create_hindexed(3, counts, addresses, MPI_DOUBLE, &into));
    ok(MPI_Type_commit(&into));
    exchange(MPI_BOTTOM, 1, absolute, MPI_BOTTOM, 1, into);
    check(back[5][7] == value(5, 7) && back[5][8] == value(5, 8) && back[5][9] == -1 && back[3][1] == value(3, 1));
    check(back[100][0] == value(100, 0) && (&back[100][0])[29999] == (&grid[100][0])[29999]);
    /* MPI_BOTTOM is no buffer for a type with relative displacements. */
    check_class(MPI_Send(MPI_BOTTOM, 1, MPI_DOUBLE, rank, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);

    /* Types may be freed while operations are under way. */
    MPI_Request requests[2];
    int other = size - 1 - rank;
    clear();
    ok(MPI_Irecv(MPI_BOTTOM, 1, into, other, 2, MPI_COMM_WORLD, &requests[0]));
    ok(MPI_Isend(MPI_BOTTOM, 1, absolute, other, 2, MPI_COMM_WORLD, &requests[1]));
    ok(MPI_Type_free(&absolute));
    ok(MPI_Type_free(&into));
    ok(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    check(back[5][8] == value(5, 8) && (&back[100][0])[29999] == (&grid[100][0])[29999]);

    /* A shorter message than the type has room for. */
    MPI_Datatype item, many;
    const int ones[] = {1, 2};
    const MPI_Aint at[] = {0, 8};
    const MPI_Datatype parts[] = {MPI_INT, MPI_DOUBLE};
    ok(MPI_Type_create_struct(2, ones, at, parts, &item));
    ok(MPI_Type_contiguous(1000, item, &many));
    ok(MPI_Type_commit(&item));
    ok(MPI_Type_commit(&many));
    for (int items = 1; items <= 1000; items = items * 5 + 1) {
        MPI_Status status;
        int elements = -1, count = -1;
        MPI_Count elements_x = -1;
        clear();
        MPI_Request request;
        ok(MPI_Irecv(back, 1, many, other, 3, MPI_COMM_WORLD, &request));
        ok(MPI_Send(grid, items, item, other, 3, MPI_COMM_WORLD));
        ok(MPI_Wait(&request, &status));
        ok(MPI_Get_elements(&status, many, &elements));
        ok(MPI_Get_elements_x(&status, many, &elements_x));
        ok(MPI_Get_count(&status, many, &count));
        check_equal(elements, 3 * items);
        check_equal(elements_x, 3 * items);
        check_equal(count, MPI_UNDEFINED);
        ok(MPI_Get_count(&status, item, &count));
        check_equal(count, items);
        check((&back[0][0])[3 * items - 1] == (&grid[0][0])[3 * items - 1] && (&back[0][0])[3 * items + 1] == -1);
    }
    ok(MPI_Type_free(&item));
    ok(MPI_Type_free(&many));
    return finish();
}
