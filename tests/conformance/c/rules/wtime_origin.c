/* The origin of MPI_Wtime does not move: its distance from the system's monotonic clock does not change, and its
 * values are whole ticks apart. */
#include "check.h"
#include <math.h>
#include <time.h>

static double system_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The distance of the two clocks, measured by the fastest of many reads. */
static double distance(void)
{
    double best = 1e9, found = 0;
    for (int i = 0; i < 2000; i++) {
        double before = system_clock(), middle = MPI_Wtime(), after = system_clock();
        if (after - before < best)
            best = after - before, found = middle - (before + after) / 2;
    }
    return found;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    double first = distance();
    struct timespec nap = {0, 200 * 1000 * 1000};
    nanosleep(&nap, NULL);
    check(fabs(distance() - first) < 1e-3);
    /* A clock whose tick is longer than MPI_Wtick would not change for longer than that. */
    double tick = MPI_Wtick(), smallest = 1;
    for (int i = 0; i < 100000; i++) {
        double step = -MPI_Wtime();
        step += MPI_Wtime();
        if (step > 0 && step < smallest)
            smallest = step;
    }
    check(tick > 0 && smallest >= tick / 2);
    return finish();
}
