/* MPI_Comm_call_errhandler calls the current handler of the communicator, also from several threads at once. */
#include "check.h"
#include <pthread.h>

enum { ROUNDS = 2000 };

static MPI_Comm expected;
static int of_first, of_second;
static _Thread_local int of_thread;

static void first(MPI_Comm *comm, int *code, ...)
{
    check(*comm == expected && *code == MPI_ERR_TAG);
    of_first++;
}

static void second(MPI_Comm *comm, int *code, ...)
{
    check(*comm == expected && *code == MPI_ERR_TAG);
    of_second++;
}

static void counting(MPI_Comm *comm, int *code, ...)
{
    of_thread++;
}

static void *caller(void *comm)
{
    for (int i = 0; i < ROUNDS; i++)
        ok(MPI_Comm_call_errhandler(*(MPI_Comm *)comm, MPI_ERR_OTHER));
    check_equal(of_thread, ROUNDS);
    return NULL;
}

int main(int argc, char **argv)
{
    MPI_Errhandler one, two, many;
    begin_threads(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
    ok(MPI_Comm_create_errhandler(first, &one));
    ok(MPI_Comm_create_errhandler(second, &two));
    MPI_Comm comms[3] = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL}, dup, stale;
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]));
    for (int i = 0; i < 3; i++) {
        expected = comms[i];
        of_first = of_second = 0;
        ok(MPI_Comm_set_errhandler(comms[i], one));
        ok(MPI_Comm_call_errhandler(comms[i], MPI_ERR_TAG));
        ok(MPI_Comm_set_errhandler(comms[i], two));
        ok(MPI_Comm_call_errhandler(comms[i], MPI_ERR_TAG));
        ok(MPI_Comm_call_errhandler(comms[i], MPI_ERR_TAG));
        ok(MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN));
        ok(MPI_Comm_call_errhandler(comms[i], MPI_ERR_TAG));
        ok(MPI_Comm_set_errhandler(comms[i], one));
        ok(MPI_Comm_call_errhandler(comms[i], MPI_ERR_TAG));
        check(of_first == 2 && of_second == 2);
        ok(MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN));
        check_class(MPI_Comm_call_errhandler(comms[i], -77), MPI_ERR_ARG);
    }

    /* A duplicate has the parent's handler; a freed one has none, and a later communicator in its slot has its own. */
    ok(MPI_Comm_set_errhandler(comms[2], one));
    for (int i = 0; i < 200; i++) {
        ok(MPI_Comm_dup(comms[2], &dup));
        expected = dup;
        of_first = 0;
        ok(MPI_Comm_call_errhandler(dup, MPI_ERR_TAG));
        check_equal(of_first, 1);
        stale = dup;
        ok(MPI_Comm_free(&dup));
        check_class(MPI_Comm_call_errhandler(stale, MPI_ERR_TAG), MPI_ERR_COMM);
        ok(MPI_Comm_dup(MPI_COMM_SELF, &dup));
        ok(MPI_Comm_call_errhandler(dup, MPI_ERR_TAG));
        check_class(MPI_Comm_call_errhandler(stale, MPI_ERR_TAG), MPI_ERR_COMM);
        ok(MPI_Comm_free(&dup));
        check_equal(of_first, 1);
    }
    check_class(MPI_Comm_call_errhandler(MPI_COMM_NULL, MPI_ERR_TAG), MPI_ERR_COMM);

    if (argc > 1) {
        pthread_t threads[4];
        ok(MPI_Comm_create_errhandler(counting, &many));
        for (int i = 0; i < 3; i++)
            ok(MPI_Comm_set_errhandler(comms[i], many));
        for (int i = 0; i < 4; i++)
            pthread_create(&threads[i], NULL, caller, &comms[i % 3]);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
        for (int i = 0; i < 2; i++)
            ok(MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN));
        ok(MPI_Errhandler_free(&many));
    }
    ok(MPI_Errhandler_free(&one));
    ok(MPI_Errhandler_free(&two));
    ok(MPI_Comm_free(&comms[2]));
    return finish();
}
