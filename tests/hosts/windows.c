/* Windows of processes of several hosts, when the host of some is lost: `windows CASE FOLDER`, with the cases lost and
   lost-asleep (locks), and long (rank 0 is in MPI_Rput, rank 1 in MPI_Rget). The ranks 0 and 1 are on one host, and 2
   and 3 on the host that is lost. */
#include "step.h"

#include <stdlib.h>
#include <string.h>

enum { LONG = 64 << 20 };

static int rank;

static void report(const char *call, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length, class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    if (code != MPI_SUCCESS)
        MPI_Error_string(code, text, &length);
    const char *failed = class == MPI_ERR_PROC_ABORTED ? "MPI_ERR_PROC_ABORTED" : "another class";
    printf("rank %d: %s: %s %s\n", rank, call, class == MPI_SUCCESS ? "done" : failed, text);
    fflush(stdout);
}

/* Long operations on the memory of the other host, until it is lost. */
static void long_operations(void)
{
    char *memory, *data = calloc(1, LONG);
    const int other = 3 - rank;
    int code;
    MPI_Request request;
    MPI_Win win;
    MPI_Win_allocate(LONG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    /* The other one of the host sends nothing: their memory is accessed while they wait. */
    if (rank >= 2)
        MPI_Recv(&code, 1, MPI_INT, 5 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win);
    for (int round = 0;; round++) {
        code = rank == 0 ? MPI_Rput(data, LONG, MPI_BYTE, other, 0, LONG, MPI_BYTE, win, &request)
                         : MPI_Rget(data, LONG, MPI_BYTE, other, 0, LONG, MPI_BYTE, win, &request);
        if (code == MPI_SUCCESS)
            code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS)
            break;
        if (round == 0)
            reach(rank);
    }
    report(rank == 0 ? "MPI_Rput" : "MPI_Rget", code);
    report("another operation", MPI_Put(data, 1, MPI_BYTE, other, 0, 1, MPI_BYTE, win));
    report("the unlock", MPI_Win_unlock(other, win));
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 0, &code, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("rank %d: goes on with rank %d\n", rank, code);
    fflush(stdout);
    reach(4 + rank);
    for (;;)
        pause();
}

int main(int argc, char **argv)
{
    MPI_Win win;
    long *memory, value = 7, found = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 9);
    folder = argv[2];
    const int asleep = strcmp(argv[1], "lost-asleep") == 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (strcmp(argv[1], "long") == 0)
        long_operations();
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    *memory = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 2) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
    }
    if (rank == 3)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 3, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    reach(rank);
    if (rank >= 2)
        for (;;)
            pause();
    if (rank == 1) {
        if (!asleep)
            report("a lock of a lost rank", MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 3, 0, win));
        report("a lock of a lost holder", MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
        MPI_Get(&found, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
        report("its end", MPI_Win_unlock(0, win));
        printf("rank 1: found %ld\n", found);
        fflush(stdout);
        report("all locks", MPI_Win_lock_all(0, win));
        MPI_Send(&value, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD);
    } else {
        if (!asleep) {
            report("the own lock of a lost holder", MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
            report("its end", MPI_Win_unlock(0, win));
        }
        /* In the other case it sleeps here while it grants its lock. */
        report("a message", MPI_Recv(&value, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        /* No share of the attempt is left. */
        report("the lock again", MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        report("the end again", MPI_Win_unlock(0, win));
    }
    reach(4 + rank);
    for (;;)
        pause();
}
