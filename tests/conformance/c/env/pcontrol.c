/* MPI_Pcontrol takes any level and further arguments, and does nothing without a tool. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    ok(MPI_Pcontrol(0));
    ok(MPI_Pcontrol(1));
    ok(MPI_Pcontrol(2, "phase", 3));
    ok(MPI_Pcontrol(-17));
    return finish();
}
