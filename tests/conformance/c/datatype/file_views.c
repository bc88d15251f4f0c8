/* Views of files with derived types: each process has the rows of a matrix that are its own; the types are copies. */
#include "check.h"
#include <unistd.h>

enum { ROWS = 24, COLUMNS = 10 };

int main(int argc, char **argv)
{
    char name[64] = "";
    int matrix[ROWS][COLUMNS], back[ROWS][COLUMNS];
    MPI_File file;
    begin(&argc, &argv);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    if (rank == 0)
        snprintf(name, sizeof name, "types-%ld.data", (long)getpid());
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    int amode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    ok(MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &file));
    const int sizes[] = {ROWS, COLUMNS}, kinds[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
    const int arguments[] = {2, MPI_DISTRIBUTE_DFLT_DARG}, grid[] = {size, 1};
    MPI_Datatype rows, column;
    ok(MPI_Type_create_darray(size, rank, 2, sizes, kinds, arguments, grid, MPI_ORDER_C, MPI_INT, &rows));
    check_class(MPI_File_set_view(file, 0, MPI_INT, rows, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    ok(MPI_Type_commit(&rows));
    int own = 0;
    ok(MPI_Type_size(rows, &own));
    own /= (int)sizeof(int);
    ok(MPI_File_set_view(file, 0, MPI_INT, rows, "native", MPI_INFO_NULL));
    ok(MPI_Type_free(&rows));
    /* From memory that is strided too. */
    int *data = malloc(2 * sizeof(int) * (size_t)(own + 1));
    for (int i = 0; i < own; i++)
        data[2 * i] = 1000 * rank + i;
    ok(MPI_Type_vector(own, 1, 2, MPI_INT, &column));
    ok(MPI_Type_commit(&column));
    ok(MPI_File_write_all(file, data, own > 0, column, MPI_STATUS_IGNORE));
    MPI_Datatype etype, filetype;
    MPI_Offset displacement = -1;
    char representation[MPI_MAX_DATAREP_STRING];
    int combiner = -1, n = -1;
    ok(MPI_File_get_view(file, &displacement, &etype, &filetype, representation));
    ok(MPI_Type_get_envelope(filetype, &n, &n, &n, &combiner));
    check(displacement == 0 && etype == MPI_INT && combiner == MPI_COMBINER_DARRAY);
    ok(MPI_Type_free(&filetype));
    MPI_Barrier(MPI_COMM_WORLD);
    ok(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    ok(MPI_File_read_at_all(file, 0, matrix, ROWS * COLUMNS, MPI_INT, MPI_STATUS_IGNORE));
    int next[64] = {0};
    for (int row = 0; row < ROWS; row++)
        for (int c = 0; c < COLUMNS; c++) {
            int process = row / 2 % size;
            check_equal(matrix[row][c], 1000 * process + next[process]);
            next[process]++;
        }
    /* Columns of the file, in elements that reach into each other. */
    MPI_Datatype one, two;
    ok(MPI_Type_vector(ROWS, 1, COLUMNS, MPI_INT, &one));
    ok(MPI_Type_create_resized(one, 0, sizeof(int), &two));
    ok(MPI_Type_commit(&one));
    ok(MPI_Type_commit(&two));
    check_class(MPI_File_set_view(file, 0, MPI_INT, two, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    ok(MPI_File_set_view(file, 3 * sizeof(int), MPI_INT, one, "native", MPI_INFO_NULL));
    memset(back, 0, sizeof back);
    ok(MPI_File_read_at(file, 0, back, 1, two, MPI_STATUS_IGNORE));
    for (int row = 0; row < ROWS; row++)
        check(back[row][0] == matrix[row][3] && back[row][1] == 0);
    ok(MPI_Type_free(&one));
    ok(MPI_Type_free(&two));
    ok(MPI_Type_free(&column));
    ok(MPI_File_close(&file));
    free(data);
    return finish();
}
