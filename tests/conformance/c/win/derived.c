/* Elements of derived types at the origin and at the target: puts, gets, accumulations and what they fetch move the
 * data of the types and nothing else; the types may be freed before the fence; what is wrong has no effect. */
#include "check.h"

#include <stddef.h>

enum { ROWS = 300, COLUMNS = 70 };

static MPI_Datatype committed(MPI_Datatype type)
{
    ok(MPI_Type_commit(&type));
    return type;
}

static MPI_Datatype column(int width)
{
    MPI_Datatype type;
    ok(MPI_Type_vector(ROWS, width, COLUMNS, MPI_DOUBLE, &type));
    return committed(type);
}

static double cell(int row, int column, int owner)
{
    return row * 1000.0 + column + owner / 16.0;
}

/* A column of one matrix goes to a column, to a row, and back, of the same and of other widths. */
static void columns(MPI_Win win, double *matrix, int width)
{
    int other = (rank + 1) % size, before = (rank + size - 1) % size;
    double *own = malloc(ROWS * COLUMNS * sizeof *own), *back = calloc(ROWS * (size_t)width, sizeof *back);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        own[i] = cell(i / COLUMNS, i % COLUMNS, rank);
        matrix[i] = -1;
    }
    MPI_Datatype from = column(width), to = column(width);
    ok(MPI_Win_fence(0, win));
    ok(MPI_Put(own + 3, 1, from, other, 5, 1, to, win));
    ok(MPI_Type_free(&from));
    ok(MPI_Type_free(&to));
    ok(MPI_Win_fence(0, win));
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        int row = i / COLUMNS, at = i % COLUMNS, there = at >= 5 && at < 5 + width;
        check(matrix[i] == (there ? cell(row, at - 2, before) : -1));
    }
    ok(MPI_Win_fence(0, win));
    to = column(width);
    ok(MPI_Get(back, ROWS * width, MPI_DOUBLE, other, 5, 1, to, win));
    ok(MPI_Type_free(&to));
    ok(MPI_Win_fence(0, win));
    for (int i = 0; i < ROWS * width; i++)
        check(back[i] == cell(i / width, 3 + i % width, rank));

    /* Into the middle of memory with gaps, from the start of a row. */
    from = column(width);
    ok(MPI_Win_fence(0, win));
    ok(MPI_Get(own, 1, from, other, 0, ROWS * width, MPI_DOUBLE, win));
    ok(MPI_Type_free(&from));
    ok(MPI_Win_fence(0, win));
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        int row = i / COLUMNS, at = i % COLUMNS, n = row * width + at;
        int there = n % COLUMNS >= 5 && n % COLUMNS < 5 + width;
        if (at < width)
            check(own[i] == (there ? cell(n / COLUMNS, n % COLUMNS - 2, rank) : -1));
        else
            check(own[i] == cell(row, at, rank));
    }
    ok(MPI_Win_fence(0, win));
    free(own);
    free(back);
}

/* All ranks add to the same elements, each from its own arrangement, and one fetches them. */
static void sums(MPI_Win win, double *matrix)
{
    memset(matrix, 0, ROWS * COLUMNS * sizeof *matrix);
    int lengths[ROWS], places[ROWS], count = 0;
    for (int i = 0; i < ROWS; i++) {
        lengths[i] = i % 4;
        places[i] = i * (COLUMNS - 1) + i % 3;
        count += i % 4;
    }
    MPI_Datatype to, from, line;
    ok(MPI_Type_indexed(ROWS, lengths, places, MPI_DOUBLE, &to));
    ok(MPI_Type_vector(count, 1, 3 + rank, MPI_DOUBLE, &from));
    ok(MPI_Type_contiguous(1, MPI_DOUBLE, &line));
    to = committed(to), from = committed(from), line = committed(line);
    double *data = calloc((size_t)count * (3 + rank), sizeof *data), *sum = calloc(count, sizeof *sum);
    for (int i = 0; i < count; i++)
        data[i * (3 + rank)] = (i + 1) * (rank + 1);
    ok(MPI_Win_fence(0, win));
    for (int i = 0; i < size; i++)
        ok(MPI_Accumulate(data, 1, from, i, 0, 1, to, MPI_SUM, win));
    ok(MPI_Win_fence(0, win));
    double all = size * (size + 1) / 2;
    for (int i = 0, n = 0; i < ROWS; i++)
        for (int j = 0; j < lengths[i]; j++, n++)
            check(matrix[places[i] + j] == all * (n + 1));
    ok(MPI_Win_fence(0, win));
    int other = (rank + 1) % size;
    ok(MPI_Get_accumulate(data, 1, from, sum, count, line, other, 0, 1, to, MPI_PROD, win));
    ok(MPI_Win_fence(0, win));
    int before = (rank + size - 1) % size;
    for (int i = 0, n = 0; i < ROWS; i++)
        for (int j = 0; j < lengths[i]; j++, n++) {
            check(sum[n] == all * (n + 1));
            check(matrix[places[i] + j] == all * (n + 1) * (n + 1) * (before + 1));
        }
    ok(MPI_Win_fence(0, win));
    ok(MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, sum, count, line, other, 0, 1, to, MPI_NO_OP, win));
    ok(MPI_Win_fence(0, win));
    for (int n = 0; n < count; n++)
        check(sum[n] == all * (n + 1) * (n + 1) * (rank + 1));
    ok(MPI_Type_free(&to));
    ok(MPI_Type_free(&from));
    ok(MPI_Type_free(&line));
    free(data);
    free(sum);
}

/* A struct of several types is put and got whole; its gaps stay. */
static void structs(MPI_Win win, double *matrix)
{
    struct mixed {
        char letter;
        double number;
        short pair[2];
    } data[40], back[40];
    MPI_Aint places[3] = {offsetof(struct mixed, letter), offsetof(struct mixed, number), offsetof(struct mixed, pair)};
    int lengths[3] = {1, 1, 2};
    MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT}, type, sized;
    ok(MPI_Type_create_struct(3, lengths, places, types, &type));
    ok(MPI_Type_create_resized(type, 0, sizeof(struct mixed), &sized));
    ok(MPI_Type_free(&type));
    type = committed(sized);
    memset(matrix, 0x55, sizeof data);
    memset(data, 0x77, sizeof data);
    memset(back, 0x33, sizeof back);
    for (int i = 0; i < 40; i++)
        data[i] = (struct mixed){'a' + i % 26, i * 1.5 + rank, {i, -rank}};
    ok(MPI_Win_fence(0, win));
    ok(MPI_Put(data, 40, type, (rank + 1) % size, 0, 40, type, win));
    ok(MPI_Win_fence(0, win));
    ok(MPI_Get(back, 40, type, (rank + 1) % size, 0, 40, type, win));
    ok(MPI_Win_fence(0, win));
    int before = (rank + size - 1) % size;
    for (int i = 0; i < 40; i++) {
        struct mixed here;
        memcpy(&here, (char *)matrix + i * sizeof here, sizeof here);
        check(here.letter == 'a' + i % 26 && here.number == i * 1.5 + before && here.pair[0] == i);
        check(here.pair[1] == -before && ((char *)&here)[1] == 0x55 && ((char *)&here)[sizeof here - 1] == 0x55);
        check(back[i].letter == 'a' + i % 26 && back[i].number == i * 1.5 + rank && back[i].pair[1] == -rank);
        check(((char *)&back[i])[1] == 0x33);
    }
    /* There is no one predefined type to combine. */
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    ok(MPI_Win_fence(0, win));
    check_class(MPI_Accumulate(data, 1, type, 0, 0, 1, type, MPI_REPLACE, win), MPI_ERR_TYPE);
    check_class(MPI_Fetch_and_op(data, back, type, 0, 0, MPI_REPLACE, win), MPI_ERR_TYPE);
    check_class(MPI_Compare_and_swap(data, data, back, type, 0, 0, win), MPI_ERR_TYPE);
    ok(MPI_Win_fence(0, win));
    ok(MPI_Type_free(&type));
}

/* Data before the element's address, and errors that change nothing. */
static void bounds(MPI_Win win, double *matrix)
{
    int lengths[2] = {1, 1}, places[2] = {-4, 4};
    MPI_Datatype around, twice, open, last;
    ok(MPI_Type_indexed(2, lengths, places, MPI_DOUBLE, &around));
    places[0] = 1, places[1] = 0, lengths[1] = 2;
    ok(MPI_Type_indexed(2, lengths, places, MPI_DOUBLE, &twice));
    ok(MPI_Type_dup(around, &open));
    around = committed(around), twice = committed(twice);
    ok(MPI_Type_vector(2, 1, ROWS * COLUMNS - 1, MPI_DOUBLE, &last));
    last = committed(last);
    double data[3] = {1, 2, 3}, back[3] = {0};
    int end = ROWS * COLUMNS, other = (rank + 1) % size;
    memset(matrix, 0, end * sizeof *matrix);
    ok(MPI_Win_fence(0, win));
    check_class(MPI_Put(data, 2, MPI_DOUBLE, other, 3, 1, around, win), MPI_ERR_RMA_RANGE);
    check_class(MPI_Put(data, 1, MPI_DOUBLE, other, end - 4, 1, around, win), MPI_ERR_RMA_RANGE);
    check_class(MPI_Get(back, 2, MPI_DOUBLE, other, 3, 1, around, win), MPI_ERR_RMA_RANGE);
    check_class(MPI_Accumulate(data, 2, MPI_DOUBLE, other, end - 4, 1, around, MPI_SUM, win), MPI_ERR_RMA_RANGE);
    check_class(MPI_Put(data, 2, MPI_DOUBLE, other, 1, 1, last, win), MPI_ERR_RMA_RANGE);
    check_class(MPI_Put(data, 3, MPI_DOUBLE, other, 0, 1, twice, win), MPI_ERR_TYPE);
    check_class(MPI_Accumulate(data, 3, MPI_DOUBLE, other, 0, 1, twice, MPI_SUM, win), MPI_ERR_TYPE);
    check_class(MPI_Get(back, 1, twice, other, 0, 3, MPI_DOUBLE, win), MPI_ERR_TYPE);
    check_class(MPI_Put(data, 2, MPI_DOUBLE, other, 8, 1, open, win), MPI_ERR_TYPE);
    check_class(MPI_Put(data, 3, MPI_DOUBLE, other, 8, 1, around, win), MPI_ERR_TRUNCATE);
    check_class(MPI_Accumulate(data, 2, MPI_DOUBLE, other, 8, 1, around, MPI_BOR, win), MPI_ERR_OP);
    check_class(MPI_Accumulate(data, 2, MPI_LONG, other, 8, 1, around, MPI_SUM, win), MPI_ERR_TYPE);
    ok(MPI_Win_fence(0, win));
    for (int i = 0; i < end; i++)
        check(matrix[i] == 0);
    ok(MPI_Win_fence(0, win));
    ok(MPI_Put(data, 2, MPI_DOUBLE, other, 4, 1, around, win));
    ok(MPI_Put(data + 1, 2, MPI_DOUBLE, other, 0 + end - 5, 1, around, win));
    ok(MPI_Accumulate(data, 2, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, around, MPI_SUM, win));
    ok(MPI_Win_fence(0, win));
    check(matrix[0] == 1 && matrix[8] == 2 && matrix[end - 9] == 2 && matrix[end - 1] == 3);
    /* Data that are only read may be named twice. */
    ok(MPI_Get(back, 3, MPI_DOUBLE, other, 0, 1, twice, win));
    ok(MPI_Win_fence(0, win));
    check(back[0] == 0 && back[1] == 1 && back[2] == 0);
    ok(MPI_Type_free(&around));
    ok(MPI_Type_free(&twice));
    ok(MPI_Type_free(&open));
    ok(MPI_Type_free(&last));
}

static void all(MPI_Win win, double *matrix)
{
    for (int width = 1; width <= 64; width *= 8)
        columns(win, matrix, width);
    sums(win, matrix);
    structs(win, matrix);
    bounds(win, matrix);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    double *matrix;
    MPI_Win win;
    MPI_Aint bytes = ROWS * COLUMNS * sizeof *matrix;
    ok(MPI_Win_allocate(bytes, sizeof *matrix, MPI_INFO_NULL, MPI_COMM_WORLD, &matrix, &win));
    all(win, matrix);
    ok(MPI_Win_free(&win));
    matrix = malloc(bytes);
    ok(MPI_Win_create(matrix, bytes, sizeof *matrix, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    all(win, matrix);
    ok(MPI_Win_free(&win));
    free(matrix);
    return finish();
}
