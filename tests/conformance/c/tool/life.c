/* The interface works before MPI_Init and after MPI_Finalize, counts its initialisations, and returns
 * MPI_T_ERR_NOT_INITIALIZED outside of them. */
#include "tool.h"

int main(int argc, char **argv)
{
    int number = -1, before = -1, provided;
    check_equal(MPI_T_pvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    check_equal(MPI_T_cvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    check_equal(MPI_T_category_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    check_equal(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    tool_begin();
    ok(MPI_T_pvar_get_num(&before));
    check(before > 0);
    ok(MPI_T_cvar_get_num(&number));
    check(number > 0);
    MPI_Init(&argc, &argv);
    identify();
    /* Two initialisations need two finalisations. */
    ok(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    ok(MPI_T_finalize());
    ok(MPI_T_pvar_get_num(&number));
    check(number >= before);
    MPI_Finalize();
    ok(MPI_T_pvar_get_num(&number));
    check(number >= before);
    ok(MPI_T_finalize());
    check_equal(MPI_T_pvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    /* It can be initialised again. */
    ok(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    ok(MPI_T_pvar_get_num(&number));
    check(number >= before);
    ok(MPI_T_finalize());
    return verdict(wrong);
}
