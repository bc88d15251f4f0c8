/* Threads allocate, read and free handles while others send: every value read is one that the counter had. */
#include "tool.h"
#include <pthread.h>

enum { THREADS = 3, READS = 20000 };

static MPI_T_pvar_session session;
static int bad;

static void *read_often(void *unused)
{
    for (int round = 0; round < 20; round++) {
        MPI_T_pvar_handle handle;
        MPI_Comm comm = MPI_COMM_SELF;
        int count, index;
        unsigned long long last = 0;
        MPI_T_pvar_get_index("p2p_messages_sent", MPI_T_PVAR_CLASS_COUNTER, &index);
        int fault = MPI_T_pvar_handle_alloc(session, index, &comm, &handle, &count) != MPI_SUCCESS;
        fault |= MPI_T_pvar_start(session, handle) != MPI_SUCCESS;
        for (int i = 0; i < READS / 20; i++) {
            unsigned long long value = 0;
            fault |= MPI_T_pvar_read(session, handle, &value) != MPI_SUCCESS || value < last || value > 1000000;
            last = value;
        }
        fault |= MPI_T_pvar_handle_free(session, &handle) != MPI_SUCCESS;
        __atomic_or_fetch(&bad, fault, __ATOMIC_RELAXED);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, read_often, NULL);
    for (int i = 0; i < 5000; i++) {
        int value = i;
        MPI_Request request;
        MPI_Isend(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    check_equal(bad, 0);
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
