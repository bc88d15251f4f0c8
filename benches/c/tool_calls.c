/* Nanoseconds of the calls of the tool information interface, above an empty loop; what a library does not
 * have, or refuses, is left out. */
#include "tool.h"
#include <pthread.h>
#include <signal.h>

static MPI_T_pvar_session session;
static MPI_T_pvar_handle handle;
static int go, failures;

/* Nanoseconds of an interrupted program's calls: reading, reading and resetting, stopping and starting. */
static double in_handler[3];

static void handler(int number)
{
    long long value[8];
    (void)number;
    for (int kind = 0; kind < 3; kind++) {
        double begin = now();
        for (int i = 0; i < CALLS; i++) {
            if (kind == 0)
                failures |= MPI_T_pvar_read(session, handle, value);
            else if (kind == 1)
                failures |= MPI_T_pvar_readreset(session, handle, value);
            else
                failures |= both(MPI_T_pvar_stop(session, handle), MPI_T_pvar_start(session, handle));
            __asm__ volatile("" ::: "memory");
        }
        in_handler[kind] = failures ? -1 : (now() - begin) / CALLS * 1e9;
        failures = 0;
    }
}

/* The value that a thread reads, and the seconds for it; none when a read failed. */
struct reader {
    MPI_T_pvar_handle handle;
    double seconds;
};

static void *read_beside(void *argument)
{
    struct reader *reader = argument;
    long long value[8];
    int failed = 0;
    double begin;
    while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE))
        ;
    begin = now();
    for (int i = 0; i < 200 * CALLS; i++) {
        failed |= MPI_T_pvar_read(session, reader->handle, value);
        __asm__ volatile("" ::: "memory");
    }
    reader->seconds = failed ? 0 : now() - begin;
    return NULL;
}

/* Million reads a second of so many threads together, each with a handle of its own of one
 * variable; 0 when one failed. */
static double rate(int threads, int index)
{
    pthread_t thread[2];
    struct reader reader[2];
    MPI_Comm comm = MPI_COMM_WORLD;
    double sum = 0;
    int count, failed = 0;
    go = 0;
    for (int i = 0; i < threads; i++) {
        failed |= MPI_T_pvar_handle_alloc(session, index, &comm, &reader[i].handle, &count);
        failed |= MPI_T_pvar_start(session, reader[i].handle);
        pthread_create(&thread[i], NULL, read_beside, &reader[i]);
    }
    __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        failed |= reader[i].seconds == 0;
        sum += 200.0 * CALLS / reader[i].seconds / 1e6;
        MPI_T_pvar_handle_free(session, &reader[i].handle);
    }
    return failed ? 0 : sum;
}

/* The median of some rates of one and two threads in turns, and of the ratios. */
static void rates(int index)
{
    enum { TURNS = 5 };
    double one[TURNS], two[TURNS], ratio[TURNS];
    for (int i = 0; i < TURNS; i++) {
        one[i] = rate(1, index);
        two[i] = rate(2, index);
        if (one[i] == 0 || two[i] == 0)
            return;
        ratio[i] = two[i] / one[i];
    }
    report("tool/pvar_reads/1-thread", median(one, TURNS), "M/s");
    report("tool/pvar_reads/2-threads", median(two, TURNS), "M/s");
    report("tool/pvar_reads/2-over-1", median(ratio, TURNS), "times");
}

static void performance(int multiple)
{
    char name[256], again[256];
    long long value[64];
    int index, found, count;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_T_pvar_session other;
    MPI_T_pvar_handle made;
    if ((index = open_class(session, MPI_T_PVAR_CLASS_COUNTER, &handle, name, sizeof name)) < 0)
        return;
    measure("pvar_readreset", MPI_T_pvar_readreset(session, handle, value));
    measure("pvar_reset", MPI_T_pvar_reset(session, handle));
    measure("pvar_start_stop", both(MPI_T_pvar_stop(session, handle), MPI_T_pvar_start(session, handle)));
    measure("pvar_handle", both(MPI_T_pvar_handle_alloc(session, index, &comm, &made, &count),
                                MPI_T_pvar_handle_free(session, &made)));
    measure("pvar_session", both(MPI_T_pvar_session_create(&other), MPI_T_pvar_session_free(&other)));
    measure("pvar_get_index", MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &found));
    measure("pvar_get_info", ({
        int length = sizeof again, verbosity, class, bind, readonly, continuous, atomic;
        MPI_T_pvar_get_info(index, again, &length, &verbosity, &class, NULL, NULL, NULL, NULL, &bind, &readonly,
                            &continuous, &atomic);
    }));
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
    static const char *const kinds[] = {"pvar_read", "pvar_readreset", "pvar_start_stop"};
    for (int kind = 0; kind < 3; kind++) {
        char full[100];
        snprintf(full, sizeof full, "tool/%s_in_handler/%s", kinds[kind], multiple ? "multiple" : "single");
        if (in_handler[kind] >= 0)
            report(full, in_handler[kind], "ns");
    }
    if (multiple)
        rates(index);
    MPI_T_pvar_handle_free(session, &handle);
}

static void control(int multiple)
{
    char name[256] = "", text[4096];
    int number = 0, count, found, length = sizeof name, scope;
    MPI_T_cvar_handle cvar;
    MPI_Datatype type = MPI_CHAR;
    MPI_T_cvar_get_num(&number);
    for (int i = 0; i < number; i++) {
        int bind = -1;
        length = sizeof name;
        MPI_T_cvar_get_info(i, name, &length, NULL, &type, NULL, NULL, NULL, &bind, &scope);
        if (type == MPI_CHAR || bind != MPI_T_BIND_NO_OBJECT ||
            MPI_T_cvar_handle_alloc(i, NULL, &cvar, &count) != MPI_SUCCESS)
            continue;
        measure("cvar_read", MPI_T_cvar_read(cvar, text));
        measure("cvar_get_info", ({
            int name_length = sizeof name, verbosity;
            MPI_T_cvar_get_info(i, name, &name_length, &verbosity, NULL, NULL, NULL, NULL, NULL, &scope);
        }));
        measure("cvar_get_index", MPI_T_cvar_get_index(name, &found));
        MPI_T_cvar_handle_free(&cvar);
        return;
    }
}

int main(int argc, char **argv)
{
    int multiple = start(&argc, &argv), provided, stamp, number = 0;
    char name[256];
    MPI_T_init_thread(multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    performance(multiple);
    control(multiple);
    MPI_T_category_get_num(&number);
    if (number > 0) {
        measure("category_get_info", ({
            int length = sizeof name, cvars, pvars, categories;
            MPI_T_category_get_info(0, name, &length, NULL, NULL, &cvars, &pvars, &categories);
        }));
        int found;
        measure("category_get_index", MPI_T_category_get_index(name, &found));
        measure("category_changed", MPI_T_category_changed(&stamp));
    }
    measure("init_finalize", both(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_T_finalize()));
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
