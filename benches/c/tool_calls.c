/* Nanoseconds of the calls of the tool information interface, above an empty loop; what a library does not have is left out. */
#include "tool.h"
#include <pthread.h>
#include <signal.h>

static MPI_T_pvar_session session;
static MPI_T_pvar_handle handle;
static double in_handler;
static int go;

/* The calls as an interrupted program makes them. */
static void handler(int number)
{
    long long value[8];
    double begin = now();
    (void)number;
    for (int i = 0; i < CALLS; i++) {
        MPI_T_pvar_read(session, handle, value);
        __asm__ volatile("" ::: "memory");
    }
    in_handler = (now() - begin) / CALLS * 1e9;
}

static void *read_beside(void *handle_of_thread)
{
    long long value[8];
    double *seconds = malloc(sizeof *seconds), begin;
    while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE))
        ;
    begin = now();
    for (int i = 0; i < 200 * CALLS; i++) {
        MPI_T_pvar_read(session, *(MPI_T_pvar_handle *)handle_of_thread, value);
        __asm__ volatile("" ::: "memory");
    }
    *seconds = now() - begin;
    return seconds;
}

/* Million reads a second of so many threads together, each with a handle of its own of one variable. */
static double rate(int threads, int index)
{
    pthread_t thread[2];
    MPI_T_pvar_handle own[2];
    MPI_Comm comm = MPI_COMM_WORLD;
    double sum = 0;
    int count;
    go = 0;
    for (int i = 0; i < threads; i++) {
        MPI_T_pvar_handle_alloc(session, index, &comm, &own[i], &count);
        MPI_T_pvar_start(session, own[i]);
        pthread_create(&thread[i], NULL, read_beside, &own[i]);
    }
    __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < threads; i++) {
        double *seconds;
        pthread_join(thread[i], (void **)&seconds);
        sum += 200.0 * CALLS / *seconds / 1e6;
        free(seconds);
        MPI_T_pvar_handle_free(session, &own[i]);
    }
    return sum;
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
    measure("pvar_start_stop", (MPI_T_pvar_stop(session, handle), MPI_T_pvar_start(session, handle)));
    measure("pvar_handle", (MPI_T_pvar_handle_alloc(session, index, &comm, &made, &count), MPI_T_pvar_handle_free(session, &made)));
    measure("pvar_session", (MPI_T_pvar_session_create(&other), MPI_T_pvar_session_free(&other)));
    measure("pvar_get_index", MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &found));
    measure("pvar_get_info", {
        int length = sizeof again, verbosity, class, bind, readonly, continuous, atomic;
        MPI_T_pvar_get_info(index, again, &length, &verbosity, &class, NULL, NULL, NULL, NULL, &bind, &readonly, &continuous,
                            &atomic);
    });
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
    char full[100];
    snprintf(full, sizeof full, "tool/pvar_read_in_handler/%s", multiple ? "multiple" : "single");
    report(full, in_handler, "ns");
    if (multiple) {
        report("tool/pvar_reads/1-thread", rate(1, index), "M/s");
        report("tool/pvar_reads/2-threads", rate(2, index), "M/s");
    }
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
        if (type == MPI_CHAR || bind != MPI_T_BIND_NO_OBJECT || MPI_T_cvar_handle_alloc(i, NULL, &cvar, &count) != MPI_SUCCESS)
            continue;
        measure("cvar_read", MPI_T_cvar_read(cvar, text));
        measure("cvar_get_info", {
            int name_length = sizeof name, verbosity;
            MPI_T_cvar_get_info(i, name, &name_length, &verbosity, NULL, NULL, NULL, NULL, NULL, &scope);
        });
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
        measure("category_get_info", {
            int length = sizeof name, cvars, pvars, categories;
            MPI_T_category_get_info(0, name, &length, NULL, NULL, &cvars, &pvars, &categories);
        });
        measure("category_changed", MPI_T_category_changed(&stamp));
    }
    measure("init_finalize", (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_T_finalize()));
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
