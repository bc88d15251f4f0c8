/* The version is that of a published standard. */
#include "check.h"

int main(int argc, char **argv)
{
    static const int published[][2] = {{1, 2}, {1, 3}, {2, 0}, {2, 1}, {2, 2}, {3, 0}, {3, 1}, {4, 0}, {4, 1}, {5, 0}};
    int version = -1, subversion = -1, found = 0;
    ok(MPI_Get_version(&version, &subversion));
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++)
        found |= published[i][0] == version && published[i][1] == subversion;
    check(found);
    begin(&argc, &argv);
    return finish();
}
