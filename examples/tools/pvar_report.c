/* An MPI_T tool: prints the values of performance variables at the end of each process. The environment variable
 * PVAR_REPORT holds their names, separated by commas. docs/tools.md explains the tool.
 *
 *   mpicc -shared -fPIC pvar_report.c -o libpvar_report.so
 *   mpiexec -n 2 env LD_PRELOAD=./libpvar_report.so PVAR_REPORT=p2p_eager_sent ./program
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

struct watched {
    char name[64];
    MPI_T_pvar_handle handle;
};

static MPI_T_pvar_session session;
static struct watched watched[MOST];
static int number;

/* Starts to watch a variable that is bound to no object and has one value, an integer of 64 bits. */
static void watch(const char *name)
{
    int variables, count;
    if (number == MOST || MPI_T_pvar_get_num(&variables) != MPI_SUCCESS)
        return;
    for (int index = 0; index < variables; index++) {
        struct watched *new = &watched[number];
        int length = sizeof new->name, verbosity, class, bind, readonly, continuous, atomic;
        MPI_Datatype type;
        if (MPI_T_pvar_get_info(index, new->name, &length, &verbosity, &class, &type, NULL, NULL, NULL, &bind,
                                &readonly, &continuous, &atomic) != MPI_SUCCESS)
            continue;
        if (strcmp(new->name, name) != 0 || bind != MPI_T_BIND_NO_OBJECT)
            continue;
        if (type != MPI_UNSIGNED_LONG && type != MPI_UNSIGNED_LONG_LONG && type != MPI_COUNT)
            continue;
        if (MPI_T_pvar_handle_alloc(session, index, NULL, &new->handle, &count) != MPI_SUCCESS)
            continue;
        if (count != 1) {
            MPI_T_pvar_handle_free(session, &new->handle);
            continue;
        }
        if (!continuous)
            MPI_T_pvar_start(session, new->handle);
        number++;
        return;
    }
    fprintf(stderr, "pvar_report: no variable %s has one integer and no object\n", name);
}

/* Only the start and the end of MPI are intercepted. */
static void begin(void)
{
    const char *names = getenv("PVAR_REPORT");
    int provided;
    if (names == NULL || MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS)
        return;
    if (MPI_T_pvar_session_create(&session) == MPI_SUCCESS) {
        char *list = strdup(names);
        for (char *name = strtok(list, ","); name != NULL; name = strtok(NULL, ","))
            watch(name);
        free(list);
    }
}

int MPI_Init(int *argc, char ***argv)
{
    int error = PMPI_Init(argc, argv);
    begin();
    return error;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int error = PMPI_Init_thread(argc, argv, required, provided);
    begin();
    return error;
}

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int index = 0; index < number; index++) {
        unsigned long long value;
        if (MPI_T_pvar_read(session, watched[index].handle, &value) == MPI_SUCCESS)
            fprintf(stderr, "pvar_report: rank %d: %s = %llu\n", rank, watched[index].name, value);
        MPI_T_pvar_handle_free(session, &watched[index].handle);
    }
    if (getenv("PVAR_REPORT") != NULL) {
        MPI_T_pvar_session_free(&session);
        MPI_T_finalize();
    }
    return PMPI_Finalize();
}
