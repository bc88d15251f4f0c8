/* A tool may define MPI_Pcontrol: it gets the level and the further arguments that the program passed. */
#include "check.h"
#include <stdarg.h>

static int calls, level_seen;
static char text_seen[20];
static double value_seen;

int MPI_Pcontrol(const int level, ...)
{
    va_list further;
    calls++;
    level_seen = level;
    if (level > 2) {
        va_start(further, level);
        snprintf(text_seen, sizeof text_seen, "%s", va_arg(further, const char *));
        value_seen = va_arg(further, double);
        va_end(further);
    }
    return PMPI_Pcontrol(level);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    check_equal(calls, 0);
    for (int level = 0; level < 3; level++) {
        ok(MPI_Pcontrol(level));
        check(calls == level + 1 && level_seen == level && text_seen[0] == 0);
    }
    ok(MPI_Pcontrol(17, "phase", 2.5));
    check(calls == 4 && level_seen == 17 && strcmp(text_seen, "phase") == 0 && value_seen == 2.5);
    ok(PMPI_Pcontrol(3));
    check_equal(calls, 4);
    return finish();
}
