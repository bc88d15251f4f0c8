/* MPI_Wtime does not go back and measures a sleep; its tick is positive and short. */
#include "check.h"
#include <time.h>

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    double last = MPI_Wtime();
    for (int i = 0; i < 100000; i++) {
        double next = MPI_Wtime();
        check(next >= last);
        last = next;
    }
    struct timespec nap = {0, 50 * 1000 * 1000};
    double start = MPI_Wtime();
    nanosleep(&nap, NULL);
    double slept = MPI_Wtime() - start;
    check(slept >= 0.049 && slept < 10);
    check(MPI_Wtick() > 0 && MPI_Wtick() <= 1e-3);
    return finish();
}
