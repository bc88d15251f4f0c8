/* Mistakes of a program, one for each name that may be defined: with pedantic warnings as errors none may compile, so
 * that the headers turn off no warning in the code after them. With no name defined the program is right. */
#include <ferrum_tool.h>
#include <mpi.h>
#include <mpit_draft.h>

int mistakes(void);

#ifdef LONG_LONG
static long long number;
#endif

int mistakes(void)
{
    int value = 0;
#ifdef UNUSED
    int unused;
#endif
#ifdef OTHER_HANDLE
    MPI_Group comm;
#else
    MPI_Comm comm;
#endif
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
#ifdef WRITTEN_CONSTANT
    {
        static const int constant = 1;
        MPI_Recv(&constant, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    }
#endif
#ifdef LONG_LONG
    value += (int)number;
#endif
#ifdef SIGNS
    value += sizeof value > value;
#endif
    return value;
}
