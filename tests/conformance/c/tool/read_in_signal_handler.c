/* A sampling tool can read, stop, start and reset variables in a signal handler that interrupts the program
 * anywhere, also inside MPI calls. */
#include "tool.h"
#include <signal.h>
#include <sys/time.h>

static MPI_T_pvar_session session;
static MPI_T_pvar_handle sent, queue, most, other;
static volatile sig_atomic_t samples, failures;

static void sample(int signal_number)
{
    unsigned long long value = 0;
    (void)signal_number;
    samples++;
    failures += MPI_T_pvar_read(session, sent, &value) != MPI_SUCCESS;
    failures += MPI_T_pvar_read(session, queue, &value) != MPI_SUCCESS;
    failures += MPI_T_pvar_readreset(session, most, &value) != MPI_SUCCESS;
    failures += MPI_T_pvar_stop(session, other) != MPI_SUCCESS;
    failures += MPI_T_pvar_reset(session, other) != MPI_SUCCESS;
    failures += MPI_T_pvar_start(session, other) != MPI_SUCCESS;
    failures += MPI_T_pvar_readreset(session, other, &value) != MPI_SUCCESS;
}

/* What a handler may not do, and what a handler may interrupt: handles and sessions are created and freed. */
static void others_come_and_go(void)
{
    MPI_T_pvar_session mine;
    ok(MPI_T_pvar_session_create(&mine));
    for (int i = 0; i < 5; i++) {
        MPI_T_pvar_handle handle = watch(mine, "MPI_T_UMQ_LENGTH", MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_COMM_WORLD);
        (void)read_pvar(mine, handle);
        if (i % 2)
            ok(MPI_T_pvar_handle_free(mine, &handle));
    }
    ok(MPI_T_pvar_session_free(&mine));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    sent = watch(session, "p2p_messages_sent", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_WORLD);
    other = watch(session, "p2p_messages_sent", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_WORLD);
    queue = watch(session, "MPI_T_UMQ_LENGTH", MPI_T_PVAR_CLASS_LEVEL, MPI_COMM_WORLD);
    most = watch(session, "MPI_T_UMQ_LENGTH", MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_COMM_WORLD);
    struct sigaction action = {.sa_handler = sample, .sa_flags = SA_RESTART};
    sigaction(SIGPROF, &action, NULL);
    struct itimerval often = {{0, 500}, {0, 500}};
    setitimer(ITIMER_PROF, &often, NULL);
    unsigned long long messages = 0;
    double start = MPI_Wtime();
    int go = 1;
    while (go) {
        for (int i = 0; i < 1000; i++) {
            int value = i;
            if (rank == 0) {
                MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
                MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
            }
            check_equal(value, i);
            messages++;
            others_come_and_go();
        }
        double spent = MPI_Wtime() - start;
        int enough = samples > 5;
        MPI_Allreduce(MPI_IN_PLACE, &enough, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        go = spent < 1.0 || (!enough && spent < 30.0);
        MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_PROF, &never, NULL);
    check(samples > 5);
    check_equal(failures, 0);
    check_equal(read_pvar(session, sent), messages);
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
