/* A two-dimensional Fourier transform of a square matrix that is distributed by rows. Rows are transformed where
 * they are; the matrix is transposed by one MPI_Alltoall, whose send type is a column of blocks (a vector, resized)
 * and whose receive type is a row of them, so that nothing is packed; then the rows are transformed again. The
 * inverse gives the matrix back. */
#include "application.h"

#include <math.h>

enum { EDGE = 96 };

typedef struct {
    double re, im;
} number;

static int size, rank, rows;

/* The discrete transform of one row by its definition; `sign` is -1, or 1 for the inverse. */
static void transform(number *row, int sign)
{
    number result[EDGE];
    for (int k = 0; k < EDGE; k++) {
        result[k] = (number){0, 0};
        for (int i = 0; i < EDGE; i++) {
            double angle = sign * 2 * 3.14159265358979323846 * (k * i % EDGE) / EDGE;
            double c = cos(angle), s = sin(angle);
            result[k].re += row[i].re * c - row[i].im * s;
            result[k].im += row[i].re * s + row[i].im * c;
        }
    }
    memcpy(row, result, sizeof result);
}

/* Element (i, j) of the block for each process is sent as the element (j, i) of its rows. */
static void transpose(const number *from, number *to, MPI_Datatype block, MPI_Datatype turned)
{
    MPI_Alltoall(from, 1, turned, to, 1, block, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    char line[200];
    MPI_Datatype scalar, column, columns, turned, rectangle, block;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (EDGE % size) {
        fprintf(stderr, "%d rows cannot be shared evenly by %d processes\n", EDGE, size);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    rows = EDGE / size;
    MPI_Type_contiguous(2, MPI_DOUBLE, &scalar);
    /* Sent: the columns of a block one after the other. */
    MPI_Type_vector(rows, 1, EDGE, scalar, &column);
    MPI_Type_create_hvector(rows, 1, sizeof(number), column, &columns);
    MPI_Type_create_resized(columns, 0, rows * (MPI_Aint)sizeof(number), &turned);
    /* Received: a block of the rows. */
    MPI_Type_vector(rows, rows, EDGE, scalar, &rectangle);
    MPI_Type_create_resized(rectangle, 0, rows * (MPI_Aint)sizeof(number), &block);
    MPI_Type_commit(&turned);
    MPI_Type_commit(&block);
    number *matrix = memory((size_t)rows * EDGE, sizeof *matrix), *other = memory((size_t)rows * EDGE, sizeof *other);
    for (int i = 0; i < rows * EDGE; i++) {
        matrix[i].re = fraction(2 * ((uint64_t)rank * rows * EDGE + i));
        matrix[i].im = fraction(2 * ((uint64_t)rank * rows * EDGE + i) + 1);
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < rows; i++)
            transform(matrix + (size_t)i * EDGE, -1);
        transpose(matrix, other, block, turned);
        number *swap = matrix;
        matrix = other;
        other = swap;
    }
    uint64_t spectrum = digest(0, matrix, (size_t)rows * EDGE * sizeof *matrix);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < rows; i++)
            transform(matrix + (size_t)i * EDGE, 1);
        transpose(matrix, other, block, turned);
        number *swap = matrix;
        matrix = other;
        other = swap;
    }
    double worst = 0, all;
    for (int i = 0; i < rows * EDGE; i++) {
        double re = fraction(2 * ((uint64_t)rank * rows * EDGE + i));
        double im = fraction(2 * ((uint64_t)rank * rows * EDGE + i) + 1);
        worst = fmax(worst, fabs(matrix[i].re / (EDGE * EDGE) - re));
        worst = fmax(worst, fabs(matrix[i].im / (EDGE * EDGE) - im));
    }
    MPI_Allreduce(&worst, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (all > 1e-11)
        fprintf(stderr, "the inverse is off by %g\n", all);
    snprintf(line, sizeof line, "spectrum %016llx, largest error %a", (unsigned long long)spectrum, all);
    print_in_order(line);
    MPI_Datatype types[] = {scalar, column, columns, turned, rectangle, block};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        MPI_Type_free(&types[i]);
    free(matrix);
    free(other);
    MPI_Finalize();
    return all > 1e-11;
}
