/* An unmodified tool that reads the further arguments of MPI_Pcontrol. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>

int MPI_Pcontrol(const int level, ...)
{
    va_list list;
    va_start(list, level);
    const char *text = va_arg(list, const char *);
    double real = va_arg(list, double);
    va_end(list);
    fprintf(stderr, "pcontrol: level %d, \"%s\", %g\n", level, text, real);
    return PMPI_Pcontrol(level);
}
