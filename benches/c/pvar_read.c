/* Nanoseconds of MPI_T_pvar_read above an empty loop, on the first variable of one element that can be read and whose
 * class counts something; prints nothing when the library has none. */
#include "bench.h"

enum { READS = 200000 };

static int counts_something(int class)
{
    return class == MPI_T_PVAR_CLASS_COUNTER || class == MPI_T_PVAR_CLASS_AGGREGATE || class == MPI_T_PVAR_CLASS_SIZE ||
           class == MPI_T_PVAR_CLASS_LEVEL || class == MPI_T_PVAR_CLASS_HIGHWATERMARK;
}

/* Whether a handle of a variable of this class (any class when `class` is negative) could be made, started and read. */
static int open_one(MPI_T_pvar_session session, int wanted, MPI_T_pvar_handle *handle, char *name, int name_size)
{
    static MPI_Comm comm;
    long long value[64];
    int number;
    comm = MPI_COMM_WORLD;
    MPI_T_pvar_get_num(&number);
    for (int i = 0; i < number; i++) {
        int length = name_size, verbosity, class, bind, readonly, continuous, atomic, count;
        MPI_Datatype type;
        if (MPI_T_pvar_get_info(i, name, &length, &verbosity, &class, &type, NULL, NULL, NULL, &bind, &readonly,
                                &continuous, &atomic) != MPI_SUCCESS)
            continue;
        if (bind != MPI_T_BIND_NO_OBJECT && bind != MPI_T_BIND_MPI_COMM)
            continue;
        if (wanted >= 0 ? class != wanted : !counts_something(class))
            continue;
        if (MPI_T_pvar_handle_alloc(session, i, &comm, handle, &count) != MPI_SUCCESS)
            continue;
        if (!continuous)
            MPI_T_pvar_start(session, *handle);
        if (count == 1 && MPI_T_pvar_read(session, *handle, value) == MPI_SUCCESS)
            return 1;
        MPI_T_pvar_handle_free(session, handle);
    }
    return 0;
}

int main(int argc, char **argv)
{
    int multiple = start(&argc, &argv), rank, provided;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_T_init_thread(multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    char name[256];
    MPI_T_pvar_session_create(&session);
    if (open_one(session, MPI_T_PVAR_CLASS_COUNTER, &handle, name, sizeof name) ||
        open_one(session, -1, &handle, name, sizeof name)) {
        double batch[BATCHES];
        volatile long long value[8];
        int failed = 0;
        for (int b = 0; b < BATCHES; b++) {
            double begin = now();
            for (int i = 0; i < READS; i++)
                __asm__ volatile("" ::: "memory");
            double empty = now() - begin;
            begin = now();
            for (int i = 0; i < READS; i++) {
                failed |= MPI_T_pvar_read(session, handle, (void *)value);
                __asm__ volatile("" ::: "memory");
            }
            batch[b] = (now() - begin - empty) / READS * 1e9;
        }
        if (rank == 0 && !failed) {
            report(multiple ? "pvar_read/multiple" : "pvar_read/single", median(batch, BATCHES), "ns");
            fprintf(stderr, "variable read: %s\n", name);
        }
        MPI_T_pvar_handle_free(session, &handle);
    }
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
