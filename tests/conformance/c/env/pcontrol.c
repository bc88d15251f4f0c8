/* MPI_Pcontrol takes any level and any further arguments, does nothing without a tool, and returns MPI_SUCCESS: before
 * MPI_Init, while MPI runs, in threads, and after MPI_Finalize, under both names. */
#include "check.h"
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* One argument of each type that C can pass, more of each class than there are registers, and none. */
static int levels(void)
{
    static const int all[] = {0, 1, 2, 3, 17, 1000, -1, -2, -17, INT_MAX, INT_MIN};
    struct { char bytes[100]; } large;
    struct { double x, y; } pair = {1.0, 2.0};
    union { int number; void *address; } either = {3};
    int number = 5, failed = 0;
    memset(&large, 7, sizeof large);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        int level = all[i];
        failed += MPI_Pcontrol(level) != MPI_SUCCESS;
        failed += PMPI_Pcontrol(level) != MPI_SUCCESS;
        failed += MPI_Pcontrol(level, 'c', (short)-1, 3, 4u, 5L, 6UL, 7LL, 8ULL) != MPI_SUCCESS;
        failed += MPI_Pcontrol(level, 1.5f, 2.5, 3.5L) != MPI_SUCCESS;
        failed += MPI_Pcontrol(level, "text", L"wide", &number, NULL, (void *)&number, levels) != MPI_SUCCESS;
        failed += MPI_Pcontrol(level, large, pair, either) != MPI_SUCCESS;
        failed += MPI_Pcontrol(level, (size_t)1, (ptrdiff_t)-1, (intmax_t)2, MPI_COMM_WORLD, MPI_INT) != MPI_SUCCESS;
        failed += MPI_Pcontrol(level, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18) != MPI_SUCCESS;
        failed += MPI_Pcontrol(level, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0) != MPI_SUCCESS;
        failed += PMPI_Pcontrol(level, "phase", 3, 2.5, large, &number, 9LL, 1.0L) != MPI_SUCCESS;
    }
    /* Nothing was written to what was passed. */
    for (size_t i = 0; i < sizeof large.bytes; i++)
        failed += large.bytes[i] != 7;
    return failed + (number != 5) + (pair.x != 1.0) + (pair.y != 2.0) + (either.number != 3);
}

static void *in_thread(void *failed)
{
    *(int *)failed = levels();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    int failed[2] = {-1, -1}, before = levels(), in = 7, total = 0;
    MPI_Request request;
    begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    check_equal(before, 0);
    ok(MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request));
    check_equal(levels(), 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, in_thread, &failed[i]);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        check_equal(failed[i], 0);
    }
    /* What was under way goes on. */
    ok(MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_SELF));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_equal(in, rank);
    MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return verdict(total + levels());
}
