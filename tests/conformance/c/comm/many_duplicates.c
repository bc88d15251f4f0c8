/* Communicators can be created and freed thousands of times, and hundreds can exist at once. */
#include "check.h"

enum { AT_ONCE = 200, TIMES = 2000 };

int main(int argc, char **argv)
{
    static MPI_Comm comms[AT_ONCE];
    begin(&argc, &argv);
    for (int i = 0; i < TIMES; i++) {
        MPI_Comm other;
        ok(MPI_Comm_dup(MPI_COMM_WORLD, &other));
        ok(MPI_Comm_free(&other));
    }
    for (int i = 0; i < AT_ONCE; i++)
        ok(MPI_Comm_dup(i ? comms[i - 1] : MPI_COMM_WORLD, &comms[i]));
    for (int i = 0; i < AT_ONCE; i++) {
        int sum = 0;
        ok(MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comms[(i * 7) % AT_ONCE]));
        check_equal(sum, i * size);
    }
    for (int i = 0; i < AT_ONCE; i++)
        ok(MPI_Comm_free(&comms[i]));
    return finish();
}
