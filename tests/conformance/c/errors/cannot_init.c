/* With an invalid setting the tools interface does not start: it returns MPI_T_ERR_CANNOT_INIT, and the program
 * continues. */
#include "check.h"

int main(int argc, char **argv)
{
    int provided = -1, class = -1;
    check_equal(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_T_ERR_CANNOT_INIT);
    check_equal(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_T_ERR_CANNOT_INIT);
    /* Texts of classes need no other part of the library. */
    check_equal(MPI_Error_class(MPI_ERR_RANK, &class), MPI_SUCCESS);
    check_equal(class, MPI_ERR_RANK);
    return verdict(wrong);
}
