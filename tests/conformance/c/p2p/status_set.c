/* The inquiry functions return what the functions that set a status stored; counts above two thousand million need
 * the large form. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Status status;
    MPI_Count large = -1;
    int count = -1, flag = -1;
    begin(&argc, &argv);
    memset(&status, 0, sizeof status);
    ok(MPI_Status_set_elements(&status, MPI_INT, 12));
    ok(MPI_Get_count(&status, MPI_INT, &count));
    check_equal(count, 12);
    ok(MPI_Get_elements(&status, MPI_INT, &count));
    check_equal(count, 12);
    ok(MPI_Status_set_elements_c(&status, MPI_BYTE, (MPI_Count)5000000000));
    ok(MPI_Get_count_c(&status, MPI_BYTE, &large));
    check_equal(large, 5000000000);
    ok(MPI_Get_count(&status, MPI_BYTE, &count));
    check_equal(count, MPI_UNDEFINED);
    ok(MPI_Get_elements_x(&status, MPI_BYTE, &large));
    check_equal(large, 5000000000);
    ok(MPI_Status_set_cancelled(&status, 1));
    ok(MPI_Test_cancelled(&status, &flag));
    check(flag);
    ok(MPI_Status_set_cancelled(&status, 0));
    ok(MPI_Test_cancelled(&status, &flag));
    check(!flag);
    ok(MPI_Get_count_c(&status, MPI_BYTE, &large));
    check_equal(large, 5000000000);
    ok(MPI_Status_set_source(&status, 3));
    ok(MPI_Status_set_tag(&status, 4));
    ok(MPI_Status_set_error(&status, MPI_ERR_TAG));
    check(status.MPI_SOURCE == 3 && status.MPI_TAG == 4 && status.MPI_ERROR == MPI_ERR_TAG);
    ok(MPI_Status_get_source(&status, &count));
    check_equal(count, 3);
    ok(MPI_Status_get_tag(&status, &count));
    check_equal(count, 4);
    ok(MPI_Status_get_error(&status, &count));
    check_equal(count, MPI_ERR_TAG);
    /* The values of an empty status can be set too. */
    ok(MPI_Status_set_source(&status, MPI_ANY_SOURCE));
    ok(MPI_Status_set_tag(&status, MPI_ANY_TAG));
    check(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
    ok(MPI_Status_set_source(&status, MPI_PROC_NULL));
    check_equal(status.MPI_SOURCE, MPI_PROC_NULL);
    return finish();
}
