/* Moves as many 8-byte messages from rank 0 to rank 1 as the argument states, all through `one_send` and `one_receive`,
 * which are what callgrind counts; the second argument selects the calls, `send` or `isend`. The harness subtracts
 * the counts of two runs, which removes costs that occur once.
 *
 * Rank 1 detects through shared memory that a message has arrived, without a call of MPI, so that each receive finds
 * its message at its first poll and the count repeats. */
#include "bench.h"

static int immediate;

__attribute__((noinline)) void one_send(const void *word)
{
    MPI_Request request;
    if (immediate) {
        MPI_Isend(word, 8, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(word, 8, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
    }
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void one_receive(void *word)
{
    MPI_Recv(word, 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    __asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
    long word = 0;
    int rank, messages = argc > 1 ? atoi(argv[1]) : 0, unit;
    int *sent;
    MPI_Aint size;
    MPI_Win window;
    immediate = argc > 2 && strcmp(argv[2], "isend") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate_shared(rank == 0 ? sizeof *sent : 0, sizeof *sent, MPI_INFO_NULL, MPI_COMM_WORLD, &sent, &window);
    MPI_Win_shared_query(window, 0, &size, &unit, &sent);
    *sent = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int done = 1; done <= messages; done++) {
        if (rank == 0) {
            one_send(&word);
            __atomic_store_n(sent, done, __ATOMIC_RELEASE);
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            while (__atomic_load_n(sent, __ATOMIC_ACQUIRE) < done)
                ;
            one_receive(&word);
            MPI_Send(NULL, 0, MPI_BYTE, 0, 4, MPI_COMM_WORLD);
        }
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
