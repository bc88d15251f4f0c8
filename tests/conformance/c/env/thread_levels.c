/* The requested level or a higher one is granted, MPI_Query_thread returns it, and only the thread that started MPI
 * is the main thread. The level is the argument. */
#include "check.h"
#include <pthread.h>

static int elsewhere = -1;

static void *query_level(void *unused)
{
    MPI_Is_thread_main(&elsewhere);
    return unused;
}

int main(int argc, char **argv)
{
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    int level = levels[argc > 1 ? atoi(argv[1]) & 3 : 3], provided = -1, again = -2, flag = 0;
    ok(MPI_Init_thread(&argc, &argv, level, &provided));
    identify();
    check(provided >= level);
    ok(MPI_Query_thread(&again));
    check_equal(again, provided);
    ok(MPI_Is_thread_main(&flag));
    check(flag);
    if (provided >= MPI_THREAD_FUNNELED) {
        pthread_t thread;
        pthread_create(&thread, NULL, query_level, NULL);
        pthread_join(thread, NULL);
        check_equal(elsewhere, 0);
    }
    return finish();
}
