/* The processor name is a string of the returned length that fits the given array. */
#include "check.h"

int main(int argc, char **argv)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    int length = -1;
    begin(&argc, &argv);
    memset(name, 'x', sizeof name);
    ok(MPI_Get_processor_name(name, &length));
    check(length > 0 && length < MPI_MAX_PROCESSOR_NAME);
    check_equal(strlen(name), length);
    return finish();
}
