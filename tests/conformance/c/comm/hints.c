/* Hints: known ones are returned, a plain duplicate does not inherit them, unknown ones are ignored. */
#include "check.h"

static int is(MPI_Comm comm, const char *key, const char *expected)
{
    MPI_Info info;
    char text[MPI_MAX_INFO_VAL];
    int flag = 0;
    ok(MPI_Comm_get_info(comm, &info));
    ok(MPI_Info_get(info, key, sizeof text - 1, text, &flag));
    ok(MPI_Info_free(&info));
    return expected ? flag && strcmp(text, expected) == 0 : !flag;
}

int main(int argc, char **argv)
{
    MPI_Info info, stale;
    MPI_Comm copy, hinted;
    begin(&argc, &argv);
    return_errors();
    ok(MPI_Info_create(&info));
    ok(MPI_Info_set(info, "mpi_assert_no_any_source", "true"));
    ok(MPI_Info_set(info, "color", "red"));
    check(is(MPI_COMM_WORLD, "mpi_assert_no_any_source", "false"));
    ok(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &hinted));
    check(is(hinted, "mpi_assert_no_any_source", "true"));
    check(is(hinted, "color", NULL));
    ok(MPI_Comm_dup(hinted, &copy));
    check(is(copy, "mpi_assert_no_any_source", "false"));
    ok(MPI_Comm_set_info(copy, info));
    check(is(copy, "mpi_assert_no_any_source", "true"));
    ok(MPI_Comm_set_info(copy, MPI_INFO_NULL));
    check(is(copy, "mpi_assert_no_any_source", "true"));
    stale = info;
    ok(MPI_Info_free(&info));
    check_class(MPI_Comm_set_info(copy, stale), MPI_ERR_INFO);
    check_class(MPI_Comm_set_info(MPI_COMM_NULL, MPI_INFO_NULL), MPI_ERR_COMM);
    ok(MPI_Comm_free(&copy));
    ok(MPI_Comm_free(&hinted));
    return finish();
}
