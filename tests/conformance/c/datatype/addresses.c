/* MPI_Get_address, MPI_Aint_add and MPI_Aint_diff agree with the arithmetic of C pointers. */
#include "check.h"

int main(int argc, char **argv)
{
    char array[100];
    MPI_Aint first = 0, last = 0;
    begin(&argc, &argv);
    ok(MPI_Get_address(&array[0], &first));
    ok(MPI_Get_address(&array[99], &last));
    check(first == (MPI_Aint)array);
    check_equal(MPI_Aint_diff(last, first), 99);
    check_equal(MPI_Aint_diff(first, last), -99);
    check(MPI_Aint_add(first, 99) == last);
    check(MPI_Aint_add(last, -99) == first);
    return finish();
}
