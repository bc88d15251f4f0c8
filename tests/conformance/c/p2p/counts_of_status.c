/* MPI_Get_count and MPI_Get_elements count whole items and basic elements; bytes that are no whole number of items are
 * MPI_UNDEFINED. */
#include "check.h"

int main(int argc, char **argv)
{
    char data[64], out[10] = {0};
    int count;
    MPI_Count large;
    MPI_Status status;
    begin(&argc, &argv);
    MPI_Request request;
    ok(MPI_Isend(out, 10, MPI_BYTE, 0, 0, MPI_COMM_SELF, &request));
    ok(MPI_Recv(data, 64, MPI_BYTE, 0, 0, MPI_COMM_SELF, &status));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    ok(MPI_Get_count(&status, MPI_BYTE, &count));
    check_equal(count, 10);
    ok(MPI_Get_count(&status, MPI_SHORT, &count));
    check_equal(count, 5);
    ok(MPI_Get_count(&status, MPI_INT, &count));
    check_equal(count, MPI_UNDEFINED);
    ok(MPI_Get_count_c(&status, MPI_SHORT, &large));
    check_equal(large, 5);
    ok(MPI_Get_count_c(&status, MPI_DOUBLE, &large));
    check_equal(large, MPI_UNDEFINED);
    struct { double d; int i; } pair[3] = {{1, 2}, {3, 4}, {5, 6}}, got[3];
    ok(MPI_Isend(pair, 3, MPI_DOUBLE_INT, 0, 0, MPI_COMM_SELF, &request));
    ok(MPI_Recv(got, 3, MPI_DOUBLE_INT, 0, 0, MPI_COMM_SELF, &status));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check(got[2].d == 5 && got[2].i == 6 && got[1].d == 3);
    ok(MPI_Get_count(&status, MPI_DOUBLE_INT, &count));
    check_equal(count, 3);
    ok(MPI_Get_elements(&status, MPI_DOUBLE_INT, &count));
    check_equal(count, 6);
    ok(MPI_Get_elements_x(&status, MPI_DOUBLE_INT, &large));
    check_equal(large, 6);
    return finish();
}
