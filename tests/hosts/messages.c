/* Ranks on several hosts: messages of all lengths between all pairs, collectives, groups of hosts, ways to end. */
#include "step.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void must(int condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "rank %d: %s\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 99);
    }
}

static unsigned char byte(int from, int to, int length, int at)
{
    return (unsigned char)(from * 31 + to * 17 + length + at * 7 + at / 251);
}

/* Each pair exchanges messages of this length. */
static void exchange(int length)
{
    unsigned char *out = malloc((size_t)size * (length + 1)), *in = malloc((size_t)size * (length + 1));
    MPI_Request *requests = malloc(2 * (size_t)size * sizeof *requests);
    for (int peer = 0; peer < size; peer++) {
        unsigned char *to = out + (size_t)peer * (length + 1);
        for (int i = 0; i < length; i++)
            to[i] = byte(rank, peer, length, i);
        MPI_Irecv(in + (size_t)peer * (length + 1), length + 1, MPI_BYTE, peer, length, MPI_COMM_WORLD,
                  &requests[peer]);
    }
    for (int peer = 0; peer < size; peer++)
        MPI_Isend(out + (size_t)peer * (length + 1), length, MPI_BYTE, peer, length, MPI_COMM_WORLD,
                  &requests[size + peer]);
    MPI_Status *statuses = malloc(2 * (size_t)size * sizeof *statuses);
    MPI_Waitall(2 * size, requests, statuses);
    for (int peer = 0; peer < size; peer++) {
        int count, wrong = 0;
        MPI_Get_count(&statuses[peer], MPI_BYTE, &count);
        for (int i = 0; i < length; i++)
            wrong += in[(size_t)peer * (length + 1) + i] != byte(peer, rank, length, i);
        must(count == length && wrong == 0, "a message has other bytes");
    }
    free(statuses);
    free(requests);
    free(in);
    free(out);
}

/* What processes of several hosts do not share yet is an error of its class in each process, and the job goes on. */
static void refused(void)
{
    MPI_Win win;
    int *base, class;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Win_allocate_shared(4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), &class);
    must(class == MPI_ERR_RMA_SHARED, "MPI_Win_allocate_shared");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("refused as they should be\n");
}

/* Long messages to the last rank, until it is lost. The others wait for one of these two on their own host. Each
   reports when the first message is over, if there is a folder for that. */
static void long_messages(void)
{
    int length = 64 << 20, waits = rank != 0 && rank != size - 1;
    char *data = calloc(1, length);
    for (int round = 0;; round++) {
        if (folder && round == (waits ? 0 : 1))
            reach(rank);
        if (rank == 0)
            MPI_Send(data, length, MPI_BYTE, size - 1, 0, MPI_COMM_WORLD);
        if (rank == size - 1)
            MPI_Recv(data, length, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (waits)
            MPI_Recv(data, 1, MPI_BYTE, rank < size / 2 ? 0 : size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Each rank exchanges messages with one of the other half until that one is lost. Then the ranks of a host go on. */
static void errors_returned(void)
{
    int class = MPI_SUCCESS, other = (rank + size / 2) % size, in, sum = 0, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm host;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    while (class == MPI_SUCCESS) {
        int code = MPI_Sendrecv(&rank, 1, MPI_INT, other, 0, &in, 1, MPI_INT, other, 0, MPI_COMM_WORLD,
                                MPI_STATUS_IGNORE);
        MPI_Error_class(code, &class);
        MPI_Error_string(code, text, &length);
    }
    int one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, host);
    const char *name = class == MPI_ERR_PROC_ABORTED ? "MPI_ERR_PROC_ABORTED" : "another";
    printf("%d: class %s, %d go on: %s\n", rank, name, sum, text);
    fflush(stdout);
    /* Launchers end the other processes of a host with the first. */
    sleep(60);
    exit(0);
}

enum { LAST_SIGNAL = 64 };

/* The actions for signals; those that cannot be read stay as they are. */
static void read_actions(struct sigaction *actions)
{
    for (int number = 1; number <= LAST_SIGNAL; number++)
        sigaction(number, NULL, &actions[number]);
}

int main(int argc, char **argv)
{
    struct sigaction before[LAST_SIGNAL + 1] = { 0 }, after[LAST_SIGNAL + 1] = { 0 };
    const char *how = argc > 1 ? argv[1] : "";
    folder = argc > 2 ? argv[2] : NULL;
    char name[MPI_MAX_PROCESSOR_NAME];
    int length, here, first, hosts, sum;
    MPI_Comm host;
    read_actions(before);
    MPI_Init(&argc, &argv);
    read_actions(after);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* libfabric has been loaded, some providers of which end a process at a signal. */
    for (int number = 1; number <= LAST_SIGNAL; number++)
        must(before[number].sa_handler == after[number].sa_handler, "MPI_Init has changed the action for a signal");
    if (rank == 2 % size) {
        if (!strcmp(how, "abort"))
            MPI_Abort(MPI_COMM_WORLD, 7);
        if (!strcmp(how, "abort-self"))
            MPI_Abort(MPI_COMM_SELF, 5);
        if (!strcmp(how, "fatal"))
            MPI_Send(NULL, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        if (!strcmp(how, "exit"))
            exit(9);
    }
    if (!strcmp(how, "refused"))
        refused();
    while (!strcmp(how, "wait"))
        MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(how, "long"))
        long_messages();
    if (!strcmp(how, "errors"))
        errors_returned();
    if (!strcmp(how, "slow")) {
        double begin = MPI_Wtime();
        exchange(3 << 18);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            printf(MPI_Wtime() - begin > 3 ? "slow, and whole\n" : "the link was not slow\n");
        MPI_Finalize();
        return 0;
    }
    static const int lengths[] = {0, 1, 8, 33, 2048, 16385, 65535, 65536, 65537, 1 << 20, (3 << 20) + 5};
    for (int i = 0; i < (int)(sizeof lengths / sizeof *lengths); i++)
        exchange(lengths[i]);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &here);
    MPI_Comm_rank(host, &first);
    first = first == 0;
    MPI_Allreduce(&first, &hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int *shared, *of_first, unit;
    MPI_Aint bytes;
    MPI_Win win;
    MPI_Win_allocate_shared(sizeof *shared, sizeof *shared, MPI_INFO_NULL, host, &shared, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &of_first);
    if (shared == of_first)
        *shared = rank + 1000;
    MPI_Barrier(host);
    int least;
    MPI_Allreduce(&rank, &least, 1, MPI_INT, MPI_MIN, host);
    must(*of_first == least + 1000, "the memory of the host has another value");
    MPI_Win_free(&win);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    must(sum == size * (size - 1) / 2, "a sum is wrong");
    MPI_Get_processor_name(name, &length);
    printf("%d of %d on %s, %d there, %d hosts\n", rank, size, name, here, hosts);
    MPI_Comm_free(&host);
    MPI_Finalize();
    return 0;
}
