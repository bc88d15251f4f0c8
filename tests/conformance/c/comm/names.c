/* Predefined communicators have their names; a name that was set is returned, also of the longest length; a
 * duplicate has none. */
#include "check.h"

static void expect(MPI_Comm comm, const char *name)
{
    char got[MPI_MAX_OBJECT_NAME];
    int length = -1;
    memset(got, 'x', sizeof got);
    ok(MPI_Comm_get_name(comm, got, &length));
    check_equal(length, strlen(name));
    check(strcmp(got, name) == 0);
}

int main(int argc, char **argv)
{
    MPI_Comm other;
    char longest[MPI_MAX_OBJECT_NAME];
    begin(&argc, &argv);
    expect(MPI_COMM_WORLD, "MPI_COMM_WORLD");
    expect(MPI_COMM_SELF, "MPI_COMM_SELF");
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    expect(other, "");
    ok(MPI_Comm_set_name(other, "the other"));
    expect(other, "the other");
    memset(longest, 'n', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    ok(MPI_Comm_set_name(other, longest));
    expect(other, longest);
    ok(MPI_Comm_set_name(other, ""));
    expect(other, "");
    ok(MPI_Comm_set_name(MPI_COMM_WORLD, "everybody"));
    expect(MPI_COMM_WORLD, "everybody");
    ok(MPI_Comm_free(&other));
    return finish();
}
