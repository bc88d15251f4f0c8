/* Uses the tool interface and never initialises MPI. */
#include <mpi.h>

int main(void)
{
    int provided, variables = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_cvar_get_num(&variables);
    MPI_T_finalize();
    return variables > 0 ? 0 : 1;
}
