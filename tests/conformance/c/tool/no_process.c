/* With a bad value of a control variable the tool interface does not start: each call returns the code, and the
 * library reports the reason once. */
#include "tool.h"

int main(void)
{
    int provided = -1, count = -1;
    for (int i = 0; i < 3; i++)
        check_equal(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), MPI_T_ERR_CANNOT_INIT);
    check_equal(provided, -1);
    check_equal(MPI_T_cvar_get_num(&count), MPI_T_ERR_NOT_INITIALIZED);
    return verdict(wrong);
}
