/* What a Fortran layer states about its types: unknown at first, set once, at any time; wrong values are refused. */
#include "check.h"

static void nothing_is_known(void)
{
    MPI_Info info = MPI_INFO_ENV;
    int is_set = -1, yes = -7, no = -7;
    ok(MPI_Abi_get_fortran_info(&info));
    check(info == MPI_INFO_NULL);
    ok(MPI_Abi_get_fortran_booleans(4, &yes, &no, &is_set));
    check(is_set == 0 && yes == -7 && no == -7);
}

static void set(const char *key, const char *value, int expected)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    check_class(MPI_Abi_set_fortran_info(info), expected);
    MPI_Info_free(&info);
}

static void is_known(void)
{
    MPI_Info info = MPI_INFO_NULL;
    char value[16] = "";
    int flag = 0, is_set = -1, yes = -7, no = -7;
    long long wide = -7, wide_no = -7;
    ok(MPI_Abi_get_fortran_info(&info));
    check(info != MPI_INFO_NULL);
    ok(MPI_Info_get(info, "mpi_integer_size", 15, value, &flag));
    check(flag && strcmp(value, "4") == 0);
    ok(MPI_Info_get(info, "mpi_real16_supported", 15, value, &flag));
    check(flag && strcmp(value, "false") == 0);
    ok(MPI_Info_free(&info));
    ok(MPI_Abi_get_fortran_booleans(4, &yes, &no, &is_set));
    check(is_set == 1 && yes == -1 && no == 0);
    ok(MPI_Abi_get_fortran_booleans(8, &wide, &wide_no, &is_set));
    check(is_set == 0 && wide == -7);
}

int main(int argc, char **argv)
{
    MPI_Info info;
    int yes = -1, no = 0;
    begin(&argc, &argv);
    return_errors();
    nothing_is_known();
    set("mpi_integer_size", "8", MPI_ERR_ABI);
    set("mpi_integer_size", "many", MPI_ERR_INFO_VALUE);
    set("mpi_real2_supported", "perhaps", MPI_ERR_INFO_VALUE);
    check_class(MPI_Abi_set_fortran_info(MPI_INFO_NULL), MPI_ERR_INFO);
    check_class(MPI_Abi_set_fortran_booleans(3, &yes, &no), MPI_ERR_ARG);
    check_class(MPI_Abi_set_fortran_booleans(4, NULL, &no), MPI_ERR_ARG);
    check_class(MPI_Abi_set_fortran_booleans(4, &yes, NULL), MPI_ERR_ARG);
    nothing_is_known();

    ok(MPI_Info_create(&info));
    ok(MPI_Info_set(info, "mpi_integer_size", "4"));
    ok(MPI_Info_set(info, "mpi_logical_size", "4"));
    ok(MPI_Info_set(info, "mpi_real_size", "4"));
    ok(MPI_Info_set(info, "mpi_double_precision_size", "8"));
    ok(MPI_Info_set(info, "mpi_real16_supported", "false"));
    ok(MPI_Abi_set_fortran_info(info));
    ok(MPI_Abi_set_fortran_booleans(4, &yes, &no));
    is_known();
    check_class(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI);
    check_class(MPI_Abi_set_fortran_booleans(4, &no, &yes), MPI_ERR_ABI);
    ok(MPI_Info_free(&info));
    is_known();
    return finish();
}
