/* After MPI_Finalize process 0 continues: it computes, writes a file and reads it back. */
#include "check.h"

int main(int argc, char **argv)
{
    int number = 0;
    begin(&argc, &argv);
    int mine = rank;
    MPI_Finalize();
    if (mine != 0)
        return 0;
    FILE *file = tmpfile();
    check(file != NULL && fprintf(file, "%d", 4711) > 0);
    rewind(file);
    check(fscanf(file, "%d", &number) == 1);
    check_equal(number, 4711);
    fclose(file);
    return verdict(wrong);
}
