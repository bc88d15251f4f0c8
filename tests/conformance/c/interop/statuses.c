/* A status in the forms of C, of the older Fortran bindings and of mpi_f08: all of it survives, what is opaque
 * included; where no status stands, the call is an error. */
#include "check.h"

static void holds(const MPI_Status *status, int count)
{
    int found = -1, cancelled = -1;
    ok(MPI_Get_count(status, MPI_INT, &found));
    ok(MPI_Test_cancelled(status, &cancelled));
    check_equal(found, count);
    check_equal(cancelled, 0);
    check_equal(status->MPI_SOURCE, 0);
    check_equal(status->MPI_TAG, 77);
}

int main(int argc, char **argv)
{
    int data[5] = {1, 2, 3, 4, 5}, in[9];
    MPI_Fint array[MPI_F_STATUS_SIZE + 1], other[MPI_F_STATUS_SIZE];
    MPI_Status status, back;
    MPI_F08_status derived, derived_too;
    begin(&argc, &argv);
    return_errors();
    check_equal(sizeof(MPI_Fint), sizeof(int));
    check_equal(sizeof(MPI_F08_status), sizeof(MPI_Status));
    check_equal(MPI_F_STATUS_SIZE * (int)sizeof(MPI_Fint), sizeof(MPI_Status));
    ok(MPI_Sendrecv(data, 5, MPI_INT, 0, 77, in, 9, MPI_INT, 0, 77, MPI_COMM_SELF, &status));
    status.MPI_ERROR = 4711;

    array[MPI_F_STATUS_SIZE] = -7;
    ok(MPI_Status_c2f(&status, array));
    check_equal(array[MPI_F_SOURCE], 0);
    check_equal(array[MPI_F_TAG], 77);
    check_equal(array[MPI_F_ERROR], 4711);
    check_equal(array[MPI_F_STATUS_SIZE], -7);
    memset(&back, 0, sizeof back);
    ok(MPI_Status_f2c(array, &back));
    holds(&back, 5);
    check_equal(back.MPI_ERROR, 4711);

    ok(MPI_Status_c2f08(&status, &derived));
    check(derived.MPI_SOURCE == 0 && derived.MPI_TAG == 77 && derived.MPI_ERROR == 4711);
    memset(&back, 0, sizeof back);
    ok(MPI_Status_f082c(&derived, &back));
    holds(&back, 5);

    ok(MPI_Status_f2f08(array, &derived_too));
    ok(MPI_Status_f082f(&derived_too, other));
    check(memcmp(array, other, sizeof other) == 0);

    /* MPI_F_STATUS_IGNORE and its like are no status. */
    check_class(MPI_Status_f2c(MPI_F_STATUS_IGNORE, &back), MPI_ERR_ARG);
    check_class(MPI_Status_f2c(MPI_F_STATUSES_IGNORE, &back), MPI_ERR_ARG);
    check_class(MPI_Status_c2f(MPI_STATUS_IGNORE, array), MPI_ERR_ARG);
    check_class(MPI_Status_c2f(&status, NULL), MPI_ERR_ARG);
    check_class(MPI_Status_f082c(MPI_F08_STATUS_IGNORE, &back), MPI_ERR_ARG);
    check_class(MPI_Status_f082f(MPI_F08_STATUSES_IGNORE, array), MPI_ERR_ARG);
    check_class(MPI_Status_c2f08(&status, NULL), MPI_ERR_ARG);
    check_class(MPI_Status_f2f08(array, NULL), MPI_ERR_ARG);
    return finish();
}
