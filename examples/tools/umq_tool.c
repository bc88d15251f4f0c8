/* A tool that finds the receives that run while many unexpected messages are queued. A receive that searches
 * a long queue is a sign of messages that are received in another order than they are sent.
 *
 * It is a complete PMPI tool after the example at the end of the standard's section on performance
 * variables. The program's MPI calls reach this tool, which calls the library's own functions by their
 * PMPI names. Two ways to use it:
 *
 *   mpicc program.c umq_tool.c -o program && mpiexec -n 4 ./program                  linked in front of the library
 *   mpicc -shared -fPIC umq_tool.c -o libumq_tool.so
 *   mpiexec -n 4 env LD_PRELOAD=./libumq_tool.so ./program                             preloaded into any program
 *
 * UMQ_TOOL_THRESHOLD sets how long a queue must be for a receive to count (5 when not set).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char variable_name[] = "MPI_T_UMQ_LENGTH";

/* Places in the program that called MPI_Recv while the queue was long. */
enum { MAX_SITES = 32 };
struct site {
    const void *address;
    unsigned long calls;
    unsigned longest;
};

/* One rank's findings, sent as bytes to rank 0 at the end. */
struct findings {
    unsigned long receives, slow_receives;
    unsigned longest;
    int watching;
    char worst_site[96];
    unsigned long worst_calls;
};

static MPI_T_pvar_session session;
static MPI_T_pvar_handle handle;
static struct findings mine;
static struct site sites[MAX_SITES];
static unsigned threshold = 5;

/* The index of the variable, or -1. The class is compared too: a high-water mark may have the same name. */
static int find_variable(void)
{
    int number;
    if (PMPI_T_pvar_get_num(&number) != MPI_SUCCESS)
        return -1;
    for (int index = 0; index < number; index++) {
        /* One character more than the name needs, so that a longer name with this beginning does not look equal. */
        char name[sizeof variable_name + 1];
        int length = (int)sizeof name, verbosity, class, bind, readonly, continuous, atomic;
        MPI_Datatype type;
        int error = PMPI_T_pvar_get_info(index, name, &length, &verbosity, &class, &type, NULL, NULL, NULL, &bind,
                                         &readonly, &continuous, &atomic);
        if (error != MPI_SUCCESS || strcmp(name, variable_name) != 0 || class != MPI_T_PVAR_CLASS_LEVEL)
            continue;
        /* The standard's example expects MPI_INT here. Its own table of classes, in the same section, lets a variable
         * of class LEVEL be unsigned (MPI_UNSIGNED and the wider unsigned types) or MPI_DOUBLE, not MPI_INT. Both
         * 4-byte integers are read alike, and a queue is never that long, so a tool can accept either. */
        if ((type == MPI_UNSIGNED || type == MPI_INT) && bind == MPI_T_BIND_MPI_COMM)
            return index;
        fprintf(stderr, "umq_tool: %s has a type or binding that this tool does not read\n", variable_name);
    }
    return -1;
}

/* Starts watching the queue of MPI_COMM_WORLD. Without the variable the program runs as if there were no tool. */
static int start_watching(void)
{
    int provided, count, error, index;
    const char *setting = getenv("UMQ_TOOL_THRESHOLD");
    if (setting)
        threshold = (unsigned)strtoul(setting, NULL, 10);
    error = PMPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    if (error != MPI_SUCCESS)
        return error;
    index = find_variable();
    if (index < 0) {
        fprintf(stderr, "umq_tool: this library has no variable %s to watch\n", variable_name);
        return MPI_SUCCESS;
    }
    error = PMPI_T_pvar_session_create(&session);
    if (error != MPI_SUCCESS)
        return error;
    /* The object is passed as the address of a variable that holds its handle. */
    MPI_Comm world = MPI_COMM_WORLD;
    error = PMPI_T_pvar_handle_alloc(session, index, &world, &handle, &count);
    if (error != MPI_SUCCESS)
        return error;
    if (count != 1) {
        fprintf(stderr, "umq_tool: %s has %d elements, not one\n", variable_name, count);
        return PMPI_T_pvar_handle_free(session, &handle);
    }
    /* A continuous variable runs already and cannot be started; that is no failure. */
    error = PMPI_T_pvar_start(session, handle);
    if (error != MPI_SUCCESS && error != MPI_T_ERR_PVAR_NO_STARTSTOP)
        return error;
    mine.watching = 1;
    return MPI_SUCCESS;
}

int MPI_Init(int *argc, char ***argv)
{
    int error = PMPI_Init(argc, argv);
    return error == MPI_SUCCESS ? start_watching() : error;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int error = PMPI_Init_thread(argc, argv, required, provided);
    return error == MPI_SUCCESS ? start_watching() : error;
}

/* Not thread-safe: like the standard's, this example is for programs whose receives are made by one thread. */
static void note_slow_receive(const void *caller, unsigned length)
{
    mine.slow_receives++;
    if (length > mine.longest)
        mine.longest = length;
    for (int i = 0; i < MAX_SITES; i++) {
        if (!sites[i].address)
            sites[i].address = caller;
        if (sites[i].address == caller) {
            sites[i].calls++;
            if (length > sites[i].longest)
                sites[i].longest = length;
            return;
        }
    }
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    if (mine.watching && comm == MPI_COMM_WORLD) {
        unsigned length = 0;
        mine.receives++;
        if (PMPI_T_pvar_read(session, handle, &length) == MPI_SUCCESS && length > threshold)
            note_slow_receive(__builtin_return_address(0), length);
    }
    return PMPI_Recv(buffer, count, type, source, tag, comm, status);
}

/* The program's part and offset of the busiest place, in the form that `addr2line -e PART OFFSET` reads. A static
 * program is one part: there the offset is the address. */
static void name_worst_site(void)
{
    const struct site *worst = &sites[0];
    for (int i = 1; i < MAX_SITES; i++)
        if (sites[i].calls > worst->calls)
            worst = &sites[i];
    if (!worst->address)
        return;
    mine.worst_calls = worst->calls;
    Dl_info where;
    if (!dladdr(worst->address, &where) || !where.dli_fname) {
        snprintf(mine.worst_site, sizeof mine.worst_site, "%p", worst->address);
        return;
    }
    const char *name = strrchr(where.dli_fname, '/');
    snprintf(mine.worst_site, sizeof mine.worst_site, "%.60s+0x%lx", name ? name + 1 : where.dli_fname,
             (unsigned long)((const char *)worst->address - (const char *)where.dli_fbase));
}

static void print_report(const struct findings *all, int size)
{
    printf("umq_tool: receives on MPI_COMM_WORLD called with more than %u unexpected messages queued\n", threshold);
    for (int rank = 0; rank < size; rank++) {
        const struct findings *f = &all[rank];
        printf("umq_tool: rank %d: %lu of %lu receives", rank, f->slow_receives, f->receives);
        if (f->slow_receives)
            printf(", longest queue %u, most of them (%lu) at %s", f->longest, f->worst_calls, f->worst_site);
        printf("\n");
    }
    fflush(stdout);
}

int MPI_Finalize(void)
{
    int rank, size;
    name_worst_site();
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    struct findings *all = rank == 0 ? calloc((size_t)size, sizeof *all) : NULL;
    PMPI_Gather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (all)
        print_report(all, size);
    free(all);
    if (mine.watching) {
        PMPI_T_pvar_handle_free(session, &handle);
        PMPI_T_pvar_session_free(&session);
    }
    PMPI_T_finalize();
    return PMPI_Finalize();
}
