/* A thread with a stack of 64 KB starts the library: by MPI_Init, MPI_Init_thread, MPI_T_init_thread or
 * MPI_Session_init, selected by the argument. */
#include "check.h"
#include <limits.h>
#include <pthread.h>

enum { STACK = 64 * 1024 };

static const char *way;

static void *start(void *nothing)
{
    int provided = -1;
    MPI_Session session;
    if (strcmp(way, "init") == 0)
        ok(MPI_Init(NULL, NULL));
    else if (strcmp(way, "thread") == 0)
        ok(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    else if (strcmp(way, "tool") == 0)
        ok(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    else {
        ok(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
        ok(MPI_Session_finalize(&session));
    }
    return nothing;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_attr_t attributes;
    int initialized = 0;
    way = argv[1];
    check_equal(pthread_attr_init(&attributes), 0);
    check_equal(pthread_attr_setstacksize(&attributes, STACK < PTHREAD_STACK_MIN ? PTHREAD_STACK_MIN : STACK), 0);
    check_equal(pthread_create(&thread, &attributes, start, NULL), 0);
    check_equal(pthread_join(thread, NULL), 0);
    ok(MPI_Initialized(&initialized));
    if (!initialized)
        MPI_Init(&argc, &argv);
    identify();
    return finish();
}
