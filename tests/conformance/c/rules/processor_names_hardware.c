/* Processes of one machine get the same processor name, no byte beyond its end is written, and it names the machine. */
#include "check.h"
#include <sys/utsname.h>

int main(int argc, char **argv)
{
    struct utsname machine;
    char name[MPI_MAX_PROCESSOR_NAME + 8], first[MPI_MAX_PROCESSOR_NAME];
    int length = -1;
    begin(&argc, &argv);
    memset(name, 'x', sizeof name);
    ok(MPI_Get_processor_name(name, &length));
    for (size_t i = MPI_MAX_PROCESSOR_NAME; i < sizeof name; i++)
        check(name[i] == 'x');
    check_equal(name[length], 0);
    memcpy(first, name, sizeof first);
    ok(MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD));
    check(strcmp(first, name) == 0);
    check(uname(&machine) == 0 && strcmp(machine.nodename, name) == 0);
    return finish();
}
