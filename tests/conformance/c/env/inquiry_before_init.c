/* The version functions may be called before MPI_Init and after MPI_Finalize, and return the same each time. */
#include "check.h"

static void inquire(int *version, int *subversion, char *library)
{
    int length = -1;
    ok(MPI_Get_version(version, subversion));
    ok(MPI_Get_library_version(library, &length));
    check_equal(length, (int)strlen(library));
    check(length > 0 && length < MPI_MAX_LIBRARY_VERSION_STRING);
}

int main(int argc, char **argv)
{
    static char first[MPI_MAX_LIBRARY_VERSION_STRING], then[MPI_MAX_LIBRARY_VERSION_STRING];
    int version, subversion, again, subagain, major = -1, minor = -1;
    inquire(&version, &subversion, first);
    ok(MPI_Abi_get_version(&major, &minor));
    check_equal(major, MPI_ABI_VERSION);
    check_equal(minor, MPI_ABI_SUBVERSION);
    MPI_Init(&argc, &argv);
    inquire(&again, &subagain, then);
    check(again == version && subagain == subversion && strcmp(first, then) == 0);
    check_equal(version, MPI_VERSION);
    check_equal(subversion, MPI_SUBVERSION);
    MPI_Finalize();
    inquire(&again, &subagain, then);
    check(again == version && subagain == subversion && strcmp(first, then) == 0);
    return verdict(wrong);
}
