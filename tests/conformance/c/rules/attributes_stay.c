/* Predefined attributes are the same in all processes; messages and new communicators do not change them, and in a
 * callback of MPI_Finalize they have the same values. */
#include "check.h"

enum { KEYS = 6 };
static const int keys[KEYS] = {MPI_TAG_UB, MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_APPNUM, MPI_UNIVERSE_SIZE};
static int first[KEYS];

static void inquire(int *values)
{
    for (int i = 0; i < KEYS; i++) {
        int *value = NULL, flag = 0;
        ok(MPI_Comm_get_attr(MPI_COMM_WORLD, keys[i], &value, &flag));
        check(flag);
        values[i] = flag ? *value : -1;
    }
}

static int at_the_end(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int now[KEYS], total = 0;
    inquire(now);
    check(memcmp(now, first, sizeof now) == 0);
    MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    return verdict(total) ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int low[KEYS], high[KEYS], now[KEYS], keyval;
    MPI_Comm copy;
    begin(&argc, &argv);
    inquire(first);
    MPI_Allreduce(first, low, KEYS, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(first, high, KEYS, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    check(memcmp(low, high, sizeof low) == 0);
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    ok(MPI_Barrier(copy));
    ok(MPI_Comm_free(&copy));
    inquire(now);
    check(memcmp(now, first, sizeof now) == 0);
    ok(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &keyval, NULL));
    ok(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL));
    MPI_Finalize();
    return wrong != 0;
}
