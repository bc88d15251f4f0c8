/* The error of a call that has no memory for the copy of a list or a text. */
#include "ferrum_fortran.h"

void ferrum_no_memory(void)
{
    PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM);
}
