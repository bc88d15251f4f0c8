/* A profiler's timer interrupts four threads that send, 10,000 times a second, and its handler reads, reads and
 * resets, and starts and stops variables wherever it hits: no call fails, no value is one that the variable cannot
 * have had, nothing is lost between resets, nothing hangs. The argument is how many seconds, or TOOL_TEST_SECONDS.
 *
 * The timer is of real time: one of processor time ticks with the kernel, some hundred times a second. */
#include "tool.h"
#include <pthread.h>
#include <signal.h>
#include <time.h>

enum { THREADS = 4, BATCH = 200 };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle sent, taken, bytes, stopped, most, waited;
static MPI_Comm comms[THREADS];
static unsigned long long done[THREADS], harvest, samples, last_sent, failures, backwards, wrong_marks;
static volatile int go = 1;

static void sample(int number)
{
    unsigned long long value = ~0ull, mark = 0, before = __atomic_load_n(&last_sent, __ATOMIC_SEQ_CST);
    double time = -1;
    int bad = 0;
    (void)number;
    bad += MPI_T_pvar_read(session, sent, &value) != MPI_SUCCESS;
    /* Other handlers may have counted more meanwhile, but the value is never lower than before this handler began. */
    if (value < before || value > 1ull << 40)
        __atomic_add_fetch(&backwards, 1, __ATOMIC_RELAXED);
    while (before < value &&
           !__atomic_compare_exchange_n(&last_sent, &before, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    bad += MPI_T_pvar_readreset(session, taken, &value) != MPI_SUCCESS;
    __atomic_add_fetch(&harvest, value, __ATOMIC_RELAXED);
    bad += MPI_T_pvar_read(session, bytes, &value) != MPI_SUCCESS;
    bad += value % sizeof(int) != 0;
    bad += MPI_T_pvar_stop(session, stopped) != MPI_SUCCESS;
    bad += MPI_T_pvar_reset(session, stopped) != MPI_SUCCESS;
    bad += MPI_T_pvar_start(session, stopped) != MPI_SUCCESS;
    bad += MPI_T_pvar_read(session, most, &mark) != MPI_SUCCESS;
    if ((unsigned)mark > BATCH)
        __atomic_add_fetch(&wrong_marks, 1, __ATOMIC_RELAXED);
    bad += MPI_T_pvar_reset(session, most) != MPI_SUCCESS;
    bad += MPI_T_pvar_read(session, waited, &time) != MPI_SUCCESS || !(time >= 0);
    __atomic_add_fetch(&failures, bad, __ATOMIC_RELAXED);
    __atomic_add_fetch(&samples, 1, __ATOMIC_RELAXED);
}

static void *traffic(void *place)
{
    int me = (int)(size_t)place, value[BATCH];
    MPI_Request requests[BATCH];
    while (go) {
        for (int i = 0; i < BATCH; i++) {
            value[i] = i;
            MPI_Isend(&value[i], 1, MPI_INT, 0, 0, comms[me], &requests[i]);
        }
        for (int i = 0; i < BATCH; i++) {
            int got = -1;
            MPI_Recv(&got, 1, MPI_INT, 0, 0, comms[me], MPI_STATUS_IGNORE);
            if (got != i)
                __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
        }
        MPI_Waitall(BATCH, requests, MPI_STATUSES_IGNORE);
        done[me] += BATCH;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    if (getenv("TOOL_TEST_SECONDS"))
        seconds = atof(getenv("TOOL_TEST_SECONDS"));
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    for (int i = 0; i < THREADS; i++)
        ok(MPI_Comm_dup(MPI_COMM_SELF, &comms[i]));
    sent = watch(session, "p2p_messages_sent", MPI_T_PVAR_CLASS_COUNTER, comms[0]);
    taken = watch(session, "p2p_messages_sent", MPI_T_PVAR_CLASS_COUNTER, comms[0]);
    bytes = watch(session, "p2p_bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE, comms[1]);
    stopped = watch(session, "p2p_messages_received", MPI_T_PVAR_CLASS_COUNTER, comms[2]);
    most = watch(session, "MPI_T_UMQ_LENGTH", MPI_T_PVAR_CLASS_HIGHWATERMARK, comms[3]);
    waited = watch(session, "p2p_time_waited", MPI_T_PVAR_CLASS_TIMER, MPI_COMM_NULL);
    struct sigaction action = {.sa_handler = sample, .sa_flags = SA_RESTART};
    sigaction(SIGPROF, &action, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, traffic, (void *)(size_t)i);
    /* The timer signals the other threads, not this one. */
    sigset_t profiling;
    sigemptyset(&profiling);
    sigaddset(&profiling, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &profiling, NULL);
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
    struct itimerspec often = {{0, 100000}, {0, 100000}};
    check_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    check_equal(timer_settime(timer, 0, &often, NULL), 0);
    for (double end = MPI_Wtime() + seconds; MPI_Wtime() < end;)
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    check_equal(timer_delete(timer), 0);
    signal(SIGPROF, SIG_IGN);
    go = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    unsigned long long rest = 0;
    ok(MPI_T_pvar_readreset(session, taken, &rest));
    fprintf(stderr, "%llu samples in %g s, %llu messages of the first thread\n", samples, seconds, done[0]);
    /* Far below the requested 10,000 a second, which a loaded machine does not reach. */
    check(samples > 50 * seconds);
    check_equal(failures, 0);
    check_equal(backwards, 0);
    check_equal(wrong_marks, 0);
    check_equal(harvest + rest, done[0]);
    check_equal(read_pvar(session, sent), done[0]);
    check_equal(read_pvar(session, bytes), done[1] * sizeof(int));
    ok(MPI_T_pvar_session_free(&session));
    for (int i = 0; i < THREADS; i++)
        ok(MPI_Comm_free(&comms[i]));
    MPI_T_finalize();
    return finish();
}
