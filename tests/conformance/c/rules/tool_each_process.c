/* Each process initialises the tool interface for itself: after rank 0 has initialised or finalised it, the others
 * are unaffected. */
#include "tool/tool.h"

/* The calls of a process that has not initialised the interface fail, and `number` is unchanged. */
static void outside(void)
{
    int number = -5;
    check_equal(MPI_T_pvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    check_equal(MPI_T_cvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    check_equal(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    check_equal(number, -5);
}

static void inside(void)
{
    int number = -5;
    ok(MPI_T_cvar_get_num(&number));
    check(number > 0);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    outside();
    /* Rank 0 has initialised the interface before the others continue. */
    if (rank == 0)
        tool_begin();
    ok(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        inside();
    else
        outside();
    ok(MPI_Barrier(MPI_COMM_WORLD));
    /* All have initialised it, then only rank 0 has finalised it. */
    if (rank != 0)
        tool_begin();
    ok(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        ok(MPI_T_finalize());
    ok(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        outside();
    else
        inside();
    ok(MPI_Barrier(MPI_COMM_WORLD));
    if (rank != 0)
        ok(MPI_T_finalize());
    outside();
    return finish();
}
