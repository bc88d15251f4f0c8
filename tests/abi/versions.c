/* Prints the library's version and checks that the ABI is the one that the program was compiled for. */
#include "check.h"

int main(int argc, char **argv)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, major = -1, minor = -1;
    begin(&argc, &argv);
    ok(MPI_Get_library_version(library, &length));
    ok(MPI_Abi_get_version(&major, &minor));
    check_equal(major, MPI_ABI_VERSION);
    check_equal(minor, MPI_ABI_SUBVERSION);
    printf("%s\n", library);
    return finish();
}
