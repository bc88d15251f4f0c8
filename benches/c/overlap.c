/* How much of MPI_Iallreduce and MPI_Ialltoall of 64 KiB is hidden behind computing that takes as long: without any
 * call in between, and with ten of MPI_Test; and the time of MPI_Start alone of a persistent MPI_Allreduce of 8 bytes,
 * beside the blocking call. Functions that a library lacks are left out. */
#include "floor.h"

enum { BYTES = 64 * 1024, ELEMENTS = BYTES / 8, CALLS = 50, TESTS = 10, ROUNDS = 31 };

#define WEAK __attribute__((weak))

int MPI_Iallreduce(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *) WEAK;
int MPI_Ialltoall(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm, MPI_Request *) WEAK;
int MPI_Allreduce_init(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request *) WEAK;

static double in[2 * ELEMENTS], out[2 * ELEMENTS];
static volatile double sink, first = 2.0;

/* In place of an operation: none. */
enum { NOTHING = 2 };

static void begin(int which, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    if (which == 0)
        MPI_Iallreduce(in, out, ELEMENTS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request);
    else if (which == 1)
        MPI_Ialltoall(in, ELEMENTS, MPI_DOUBLE, out, ELEMENTS, MPI_DOUBLE, MPI_COMM_WORLD, request);
}

/* Computes for this many steps, without memory. The first value and the number of steps are not constants, so that the
 * loop stays in the program. */
static __attribute__((noinline)) void compute(long steps)
{
    double value = first;
    for (long i = 0; i < steps; i++)
        value = value * 0.999999 + 1e-6;
    sink = value;
}

/* Seconds of a call with computing in so many parts, a test after each but the last; the slowest rank's. */
static double together(int which, int parts, long steps)
{
    double mine, slowest;
    MPI_Barrier(MPI_COMM_WORLD);
    double start_time = now();
    for (int i = 0; i < CALLS; i++) {
        MPI_Request request;
        int done;
        begin(which, &request);
        for (int part = 0; part < parts; part++) {
            compute(steps / parts);
            if (part < parts - 1)
                MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    mine = (now() - start_time) / CALLS;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

/* Steps of computing that take so many seconds. */
static long calibrate(double seconds)
{
    double best = 1;
    for (int i = 0; i < 5; i++) {
        double start_time = now();
        compute(100000);
        double time = now() - start_time;
        best = time < best ? time : best;
    }
    return (long)(seconds / best * 1e5);
}

/* Each round measures the call, the computing, and both, one after the other, so that all three have the same clock
 * rate and load; the median of the rounds' shares is reported. Below zero both together take longer than one after the
 * other. */
static void overlap(int which, const char *name, int rank)
{
    double alone[ROUNDS], shares[2][ROUNDS];
    char full[64];
    for (int round = 0; round < ROUNDS; round++)
        alone[round] = together(which, 1, 0);
    long steps = calibrate(median(alone, ROUNDS));
    /* All ranks compute as long. */
    MPI_Bcast(&steps, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++) {
        alone[round] = together(which, 1, 0);
        double computing = together(NOTHING, 1, steps);
        for (int tests = 0; tests < 2; tests++) {
            double both = together(which, tests ? TESTS + 1 : 1, steps);
            shares[tests][round] = 100 * (1 - (both - computing) / alone[round]);
        }
    }
    if (rank != 0)
        return;
    snprintf(full, sizeof full, "overlap/%s/call", name);
    report(full, median(alone, ROUNDS) * 1e6, "us");
    for (int tests = 0; tests < 2; tests++) {
        snprintf(full, sizeof full, "overlap/%s/%s", name, tests ? "tested" : "alone");
        report(full, median(shares[tests], ROUNDS), "%");
    }
}

static void starts(int rank)
{
    enum { MANY = 2000 };
    double blocking[ROUNDS], whole[ROUNDS], start_only[ROUNDS];
    MPI_Request request;
    MPI_Allreduce_init(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 0; round < ROUNDS; round++) {
        double spent = 0, start_time, clock;
        MPI_Barrier(MPI_COMM_WORLD);
        start_time = now();
        for (int i = 0; i < MANY; i++)
            MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        blocking[round] = (now() - start_time) / MANY * 1e6;
        start_time = now();
        for (int i = 0; i < MANY; i++) {
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        whole[round] = (now() - start_time) / MANY * 1e6;
        /* The clock's own time is subtracted. */
        start_time = now();
        for (int i = 0; i < MANY; i++)
            sink = now();
        clock = (now() - start_time) / MANY;
        for (int i = 0; i < MANY; i++) {
            start_time = now();
            MPI_Start(&request);
            spent += now() - start_time - clock;
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        start_only[round] = spent / MANY * 1e6;
    }
    MPI_Request_free(&request);
    if (rank == 0) {
        report("start/allreduce/blocking", median(blocking, ROUNDS), "us");
        report("start/allreduce/start+wait", median(whole, ROUNDS), "us");
        report("start/allreduce/start", median(start_only, ROUNDS), "us");
    }
}

int main(int argc, char **argv)
{
    int rank;
    /* With `thread` each library makes progress by a thread of its own, if it has one. */
    if (argc > 1 && strcmp(argv[1], "thread") == 0) {
        setenv("FERRUM_COLL_PROGRESS_THREAD", "on", 1);
        setenv("MPICH_ASYNC_PROGRESS", "1", 1);
        setenv("I_MPI_ASYNC_PROGRESS", "1", 1);
    }
    start(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    floor_begin();
    if (MPI_Iallreduce != NULL)
        overlap(0, "iallreduce", rank);
    if (MPI_Ialltoall != NULL)
        overlap(1, "ialltoall", rank);
    if (MPI_Allreduce_init != NULL)
        starts(rank);
    floor_end();
    MPI_Finalize();
    return 0;
}
