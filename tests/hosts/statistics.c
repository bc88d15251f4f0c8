/* What the ranks of several hosts have sent, for the statistics at the end: rank r sends r + 1 messages of 1000 bytes
 * to each other rank. `statistics R...`: then the ranks R are killed, each by itself, or leave by `_exit` with `-R`,
 * and those on other hosts find that in a receive from them; those on the same hosts wait for a second. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char sent[1000], received[1000];
static int rank, size;

static int is_here(int other)
{
    MPI_Group world, shared;
    MPI_Comm here;
    int there;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(here, &shared);
    MPI_Group_translate_ranks(world, 1, &other, shared, &there);
    MPI_Group_free(&world);
    MPI_Group_free(&shared);
    MPI_Comm_free(&here);
    return there != MPI_UNDEFINED;
}

static void exchange(int other)
{
    int mine = rank + 1, theirs = other + 1;
    for (int i = 0; i < mine || i < theirs; i++) {
        int to = i < mine ? other : MPI_PROC_NULL, from = i < theirs ? other : MPI_PROC_NULL;
        MPI_Sendrecv(sent, sizeof sent, MPI_CHAR, to, 3, received, sizeof received, MPI_CHAR, from, 3, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int killed[8], local[8], exits[8], count = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int other = 0; other < size; other++) {
        if (other != rank)
            exchange(other);
    }
    for (; count + 1 < argc && count < 8; count++) {
        exits[count] = argv[count + 1][0] == '-';
        killed[count] = abs(atoi(argv[count + 1]));
        local[count] = is_here(killed[count]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    /* The ranks connect with other hosts a moment after the start. */
    if (count > 0)
        sleep(2);
    for (int i = 0; i < count; i++) {
        if (killed[i] == rank && exits[i])
            _exit(0);
        if (killed[i] == rank)
            kill(getpid(), SIGKILL);
    }
    for (int i = 0; i < count; i++) {
        int class = MPI_ERR_PROC_ABORTED;
        if (local[i])
            sleep(1);
        else {
            int error = MPI_Recv(received, 1, MPI_CHAR, killed[i], 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Error_class(error, &class);
        }
        if (class != MPI_ERR_PROC_ABORTED)
            printf("rank %d: the receive from rank %d has the class %d\n", rank, killed[i], class);
    }
    MPI_Finalize();
    if (rank == 0)
        printf("over\n");
    return 0;
}
