/* An MPI_T tool: counts the messages that arrive before their receive, from each rank, by events of the library.
 * docs/tools.md explains the tool.
 *
 *   mpicc -shared -fPIC event_report.c -o libevent_report.so
 *   mpiexec -n 3 env LD_PRELOAD=./libevent_report.so ./program
 */
#include <mpi.h>
#include <stdio.h>

enum { RANKS = 1024 };
static unsigned long long messages[RANKS], bytes[RANKS];
static MPI_T_event_registration registration;

/* Called by the library for each event; with this safety level it may not call any function but those on events. */
static void arrived(MPI_T_event_instance event, MPI_T_event_registration from, MPI_T_cb_safety safety, void *data)
{
    int source;
    unsigned long long length;
    (void)from, (void)safety, (void)data;
    /* The elements of the event type, by number: source, tag, bytes. */
    if (MPI_T_event_read(event, 0, &source) == MPI_SUCCESS && MPI_T_event_read(event, 2, &length) == MPI_SUCCESS &&
        source >= 0 && source < RANKS) {
        messages[source]++;
        bytes[source] += length;
    }
}

int MPI_Init(int *argc, char ***argv)
{
    MPI_Comm world = MPI_COMM_WORLD;
    int index, provided, error = PMPI_Init(argc, argv);
    if (error == MPI_SUCCESS && MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS &&
        MPI_T_event_get_index("p2p_unexpected", &index) == MPI_SUCCESS &&
        MPI_T_event_handle_alloc(index, &world, MPI_INFO_NULL, &registration) == MPI_SUCCESS)
        MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL, NULL, arrived);
    return error;
}

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int source = 0; source < RANKS; source++)
        if (messages[source])
            printf("event_report: rank %d: %llu messages (%llu bytes) of rank %d came before their receive\n", rank,
                   messages[source], bytes[source], source);
    return PMPI_Finalize();
}
