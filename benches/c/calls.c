/* Nanoseconds of calls that query or update objects and send nothing, above an empty loop; beside them a bare
 * clock_gettime. Two kinds of communicator: the predefined one, and one that the program created. */
#include "bench.h"

enum { CALLS = 100000 };

static MPI_Comm copy;
static int number, flag, length;
static char text[MPI_MAX_LIBRARY_VERSION_STRING];
static volatile double seconds;
static int *bound;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

/* Reports the median over batches of `call`, with the number's name. */
#define measure(name, calls, call)                                                                                     \
    do {                                                                                                               \
        double batch[BATCHES];                                                                                         \
        for (int b = 0; b < BATCHES; b++) {                                                                            \
            double begin = now();                                                                                      \
            for (int i = 0; i < (calls); i++)                                                                          \
                __asm__ volatile("" ::: "memory");                                                                     \
            double empty = now() - begin;                                                                              \
            begin = now();                                                                                             \
            for (int i = 0; i < (calls); i++) {                                                                        \
                call;                                                                                                  \
                __asm__ volatile("" ::: "memory");                                                                     \
            }                                                                                                          \
            batch[b] = (now() - begin - empty) / (calls) * 1e9;                                                        \
        }                                                                                                              \
        char line[64];                                                                                                 \
        snprintf(line, sizeof line, "%s/%s", multiple ? "multiple" : "single", name);                                  \
        report(line, median(batch, BATCHES), "ns");                                                                    \
    } while (0)

static void ask_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    seconds = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    int multiple = start(&argc, &argv);
    MPI_Errhandler errhandler;
    void *memory;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Comm_set_errhandler(copy, errhandler);

    measure("clock_gettime", CALLS, ask_clock());
    measure("Wtime", CALLS, seconds = MPI_Wtime());
    measure("Initialized", CALLS, MPI_Initialized(&flag));
    measure("Comm_rank", CALLS, MPI_Comm_rank(MPI_COMM_WORLD, &number));
    measure("Comm_rank/dup", CALLS, MPI_Comm_rank(copy, &number));
    measure("Comm_size/dup", CALLS, MPI_Comm_size(copy, &number));
    measure("Comm_get_attr", CALLS, MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag));
    measure("Error_class", CALLS, MPI_Error_class(MPI_ERR_TRUNCATE, &number));
    measure("Error_string", CALLS, MPI_Error_string(MPI_ERR_TRUNCATE, text, &length));
    measure("Comm_call_errhandler", CALLS, MPI_Comm_call_errhandler(copy, MPI_ERR_TRUNCATE));
    measure("Get_processor_name", CALLS, MPI_Get_processor_name(text, &length));
    measure("Alloc_mem+Free_mem", CALLS, (MPI_Alloc_mem(64, MPI_INFO_NULL, &memory), MPI_Free_mem(memory)));

    MPI_Errhandler_free(&errhandler);
    MPI_Comm_free(&copy);
    MPI_Finalize();
    return 0;
}
