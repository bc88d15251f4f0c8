/* Each process initialises the tool interface for itself: what rank 0 has begun or ended, which the others learn by
 * then, begins and ends nothing in them. */
#include "tool/tool.h"

/* What a process that has not initialised the interface gets, while `number` stays as it is. */
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
    /* Rank 0 is inside before the others go on. */
    if (rank == 0)
        tool_begin();
    ok(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        inside();
    else
        outside();
    ok(MPI_Barrier(MPI_COMM_WORLD));
    /* All are inside, then only rank 0 has left. */
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
