/* Nanoseconds of MPI_T_pvar_read by the class of the variable, above an empty loop, and of readreset, reset, and stop
 * and start where the variable allows them; classes that a library lacks are left out. Then microseconds to read all
 * variables of the process that take no object or MPI_COMM_WORLD, per hundred. */
#include "tool.h"

static const struct { int class; const char *name; } classes[] = {
    {MPI_T_PVAR_CLASS_STATE, "state"}, {MPI_T_PVAR_CLASS_LEVEL, "level"}, {MPI_T_PVAR_CLASS_SIZE, "size"},
    {MPI_T_PVAR_CLASS_PERCENTAGE, "percentage"}, {MPI_T_PVAR_CLASS_HIGHWATERMARK, "highwatermark"},
    {MPI_T_PVAR_CLASS_LOWWATERMARK, "lowwatermark"}, {MPI_T_PVAR_CLASS_COUNTER, "counter"},
    {MPI_T_PVAR_CLASS_AGGREGATE, "aggregate"}, {MPI_T_PVAR_CLASS_TIMER, "timer"},
    {MPI_T_PVAR_CLASS_GENERIC, "generic"}};

int main(int argc, char **argv)
{
    int multiple = start(&argc, &argv), provided, number = 0, opened = 0;
    char name[256];
    static long long value[65536];
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_T_init_thread(multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (open_class(session, classes[i].class, &handle, name, sizeof name) < 0)
            continue;
        char full_name[64];
#define of_class(operation, call)                                                                                      \
    do {                                                                                                               \
        snprintf(full_name, sizeof full_name, "%s_%s", operation, classes[i].name);                                    \
        if ((call) == MPI_SUCCESS)                                                                                     \
            measure(full_name, call);                                                                                  \
    } while (0)
        of_class("read", MPI_T_pvar_read(session, handle, value));
        of_class("readreset", MPI_T_pvar_readreset(session, handle, value));
        of_class("reset", MPI_T_pvar_reset(session, handle));
        of_class("start_stop", both(MPI_T_pvar_stop(session, handle), MPI_T_pvar_start(session, handle)));
        MPI_T_pvar_handle_free(session, &handle);
    }
    MPI_T_pvar_get_num(&number);
    MPI_T_pvar_handle *all = calloc((size_t)number + 1, sizeof *all);
    MPI_Comm comm = MPI_COMM_WORLD;
    for (int i = 0; i < number; i++) {
        int bind = 0, count;
        MPI_T_pvar_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL, NULL, NULL);
        if ((bind == MPI_T_BIND_NO_OBJECT || bind == MPI_T_BIND_MPI_COMM) &&
            MPI_T_pvar_handle_alloc(session, i, &comm, &all[opened], &count) == MPI_SUCCESS)
            opened++;
    }
    if (opened > 0) {
        double batch[BATCHES];
        int failed = MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES);
        for (int b = 0; b < BATCHES; b++) {
            double begin = now();
            for (int round = 0; round < 100; round++)
                for (int i = 0; i < opened; i++)
                    failed |= MPI_T_pvar_read(session, all[i], value);
            batch[b] = (now() - begin) / opened * 1e6;
        }
        if (failed)
            fprintf(stderr, "a variable cannot be read\n");
        else
            report(multiple ? "tool/read_100/multiple" : "tool/read_100/single", median(batch, BATCHES), "us");
    }
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
