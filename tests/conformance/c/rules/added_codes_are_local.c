/* Adding a class is local: the last used code of the process grows, those of the others do not. */
#include "check.h"

static int last_used(void)
{
    int *value = NULL, flag = 0;
    ok(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag));
    return flag ? *value : -1;
}

int main(int argc, char **argv)
{
    int class = -1, code = -1, before;
    MPI_Comm copy;
    begin(&argc, &argv);
    before = last_used();
    if (rank == 0) {
        ok(MPI_Add_error_class(&class));
        ok(MPI_Add_error_code(class, &code));
        check(last_used() == code && code > before);
    }
    ok(MPI_Barrier(MPI_COMM_WORLD));
    check_equal(last_used(), rank == 0 ? code : before);
    /* Only adding changes it. */
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    ok(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN));
    check_class(MPI_Send(&class, -1, MPI_INT, 0, 0, copy), MPI_ERR_COUNT);
    ok(MPI_Comm_free(&copy));
    check_equal(last_used(), rank == 0 ? code : before);
    return finish();
}
