/* Where MPI_IO is MPI_ANY_SOURCE, every process can open, write, seek and read with the language's own calls. */
#include "check.h"

int main(int argc, char **argv)
{
    int *value = NULL, flag = 0, number = -1;
    begin(&argc, &argv);
    ok(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &value, &flag));
    check(flag && (*value == MPI_ANY_SOURCE || *value == MPI_PROC_NULL || (*value >= 0 && *value < size)));
    if (flag && (*value == MPI_ANY_SOURCE || *value == rank)) {
        FILE *file = tmpfile();
        check(file != NULL);
        if (file != NULL) {
            check(fprintf(file, "%d\n", rank + 100) > 0);
            check(fseek(file, 0, SEEK_SET) == 0);
            check(fscanf(file, "%d", &number) == 1);
            fclose(file);
            check_equal(number, rank + 100);
        }
    }
    return finish();
}
