/* How much of MPI_Iallreduce and MPI_Ialltoall of 64 KiB is hidden behind computing that takes as long: without any
 * call in between, and with ten of MPI_Test; and the time of MPI_Start alone of a persistent MPI_Allreduce of 8 bytes,
 * beside the blocking call. Functions that a library lacks are left out. */
#include "floor.h"

enum { BYTES = 64 * 1024, ELEMENTS = BYTES / 8, CALLS = 50, TESTS = 10, ROUNDS = 15 };

#define WEAK __attribute__((weak))

int MPI_Iallreduce(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *) WEAK;
int MPI_Ialltoall(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm, MPI_Request *) WEAK;
int MPI_Allreduce_init(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info, MPI_Request *) WEAK;

static double in[2 * ELEMENTS], out[2 * ELEMENTS];
static volatile double sink;

static void begin(int which, MPI_Request *request)
{
    if (which == 0)
        MPI_Iallreduce(in, out, ELEMENTS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request);
    else
        MPI_Ialltoall(in, ELEMENTS, MPI_DOUBLE, out, ELEMENTS, MPI_DOUBLE, MPI_COMM_WORLD, request);
}

/* Computes for this many steps, without memory. */
static void compute(long steps)
{
    double value = 1.0;
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

/* Steps of computing that take so many seconds, and the time that they really take. */
static long calibrate(double seconds, double *taken)
{
    double best = 1;
    for (int i = 0; i < 5; i++) {
        double start_time = now();
        compute(100000);
        double time = now() - start_time;
        best = time < best ? time : best;
    }
    long steps = (long)(seconds / best * 1e5);
    *taken = (double)steps * best / 1e5;
    return steps;
}

/* The shortest of all rounds: other load only makes one longer. */
static double shortest(int which, int parts, long steps)
{
    double best = 1;
    for (int round = 0; round < ROUNDS; round++) {
        double time = together(which, parts, steps);
        best = time < best ? time : best;
    }
    return best;
}

static void overlap(int which, const char *name, int rank)
{
    double computing, alone = shortest(which, 1, 0);
    long steps = calibrate(alone, &computing);
    /* All ranks compute as long. */
    MPI_Bcast(&steps, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    MPI_Bcast(&computing, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int tests = 0; tests < 2; tests++) {
        double share = 1 - (shortest(which, tests ? TESTS + 1 : 1, steps) - computing) / alone;
        char full[64];
        snprintf(full, sizeof full, "overlap/%s/%s", name, tests ? "tested" : "alone");
        if (rank == 0)
            report(full, 100 * (share < 0 ? 0 : share > 1 ? 1 : share), "%");
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
