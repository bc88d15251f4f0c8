/* Info objects of the environment and of the ABI are available before MPI_Init and after MPI_Finalize, without the
 * arguments of main. */
#include "check.h"

static void inquire(void)
{
    MPI_Info info;
    int keys = -1;
    ok(MPI_Info_create_env(0, NULL, &info));
    ok(MPI_Info_get_nkeys(info, &keys));
    check(keys >= 0);
    ok(MPI_Info_set(info, "own", "value"));
    ok(MPI_Info_free(&info));
    check(info == MPI_INFO_NULL);
    ok(MPI_Abi_get_info(&info));
    ok(MPI_Info_get_nkeys(info, &keys));
    check(keys > 0);
    ok(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
    inquire();
    MPI_Init(&argc, &argv);
    identify();
    inquire();
    MPI_Finalize();
    inquire();
    return verdict(wrong);
}
