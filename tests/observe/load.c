/* A job to look at. `load ring SECONDS`: each rank passes messages to the next for some time. `load stuck FILE`: all
 * ranks but the last wait for a message of the next, which never comes, until FILE exists; the last one computes.
 * `load once`: rank r sends r messages of 1000 bytes to rank 0, which receives them late: they are unexpected.
 * `load alone` waits for itself. `load parts`, `load crash`, `load handler`, `load threads`, `load spawn`: see the
 * functions. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char buffer[1 << 16];
static int rank, size;

static void ring(double seconds)
{
    int bytes = 8, goes_on = 1;
    double end = MPI_Wtime() + seconds;
    while (goes_on) {
        int next = (rank + 1) % size, last = (rank + size - 1) % size;
        for (int i = 0; i < 100; i++) {
            MPI_Sendrecv(buffer, bytes, MPI_CHAR, next, 1, buffer + (1 << 15), 1 << 15, MPI_CHAR, last, 1,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            bytes = bytes < 1 << 14 ? bytes * 2 : 8;
        }
        goes_on = MPI_Wtime() < end;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

static void stuck(const char *file)
{
    if (rank == size - 1) {
        while (access(file, F_OK) != 0) {
            for (volatile int i = 0; i < 1000000; i++) {
            }
        }
        for (int to = 0; to < size - 1; to++)
            MPI_Send(buffer, 1, MPI_CHAR, to, 7, MPI_COMM_WORLD);
        return;
    }
    MPI_Recv(buffer, 1, MPI_CHAR, size - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void once(void)
{
    if (rank != 0) {
        for (int i = 0; i < rank; i++)
            MPI_Send(buffer, 1000, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
        MPI_Send(buffer, 0, MPI_CHAR, 0, 4, MPI_COMM_WORLD);
    } else {
        for (int from = 1; from < size; from++)
            MPI_Recv(buffer, 0, MPI_CHAR, from, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int from = 1; from < size; from++)
            for (int i = 0; i < from; i++)
                MPI_Recv(buffer, 1000, MPI_CHAR, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The ranks of each half of the world, in reverse order, exchange messages in communicators that are freed. */
static void parts(void)
{
    for (int i = 0; i < 50; i++) {
        MPI_Comm part;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
        int mine, value = i;
        MPI_Comm_rank(part, &mine);
        MPI_Sendrecv_replace(&value, 1, MPI_INT, 1 - mine, 5, 1 - mine, 5, part, MPI_STATUS_IGNORE);
        MPI_Comm_free(&part);
    }
}

/* Rank 1 crashes while the others wait for it. */
__attribute__((noinline)) static void crash(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        // The others leave the barrier meanwhile.
        usleep(300000);
        *(volatile int *)(size_t)buffer[1] = 1;
    }
    MPI_Recv(buffer, 1, MPI_CHAR, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void *receive(void *tag)
{
    char byte;
    MPI_Recv(&byte, 1, MPI_CHAR, 1, *(int *)tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

/* Three threads of rank 0 wait for rank 1, which computes for ever. */
static void threads(void)
{
    static int tags[3] = {20, 21, 22};
    pthread_t thread;
    if (rank == 0) {
        pthread_create(&thread, NULL, receive, &tags[1]);
        pthread_create(&thread, NULL, receive, &tags[2]);
        receive(&tags[0]);
    }
    for (volatile int i = 0;; i++) {
    }
}

static void go_on(int number)
{
    (void)number;
}

/* A signal that the program handles. */
static void handler(void)
{
    signal(SIGFPE, go_on);
    raise(SIGFPE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A spawned process and its parent, each of which waits for itself. */
static void spawn(char *program)
{
    char *words[] = {"alone", NULL};
    MPI_Comm child;
    MPI_Comm_spawn(program, words, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child, MPI_ERRCODES_IGNORE);
    MPI_Recv(buffer, 1, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "once";
    int provided;
    MPI_Init_thread(&argc, &argv, strcmp(mode, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(mode, "ring") == 0)
        ring(argc > 2 ? atof(argv[2]) : 1);
    else if (strcmp(mode, "stuck") == 0 && argc > 2)
        stuck(argv[2]);
    else if (strcmp(mode, "parts") == 0)
        parts();
    else if (strcmp(mode, "crash") == 0)
        crash();
    else if (strcmp(mode, "threads") == 0)
        threads();
    else if (strcmp(mode, "alone") == 0)
        MPI_Recv(buffer, 1, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (strcmp(mode, "spawn") == 0)
        spawn(argv[0]);
    else if (strcmp(mode, "handler") == 0)
        handler();
    else
        once();
    if (argc > 2 && strcmp(argv[2], "die") == 0 && rank == size - 1)
        _exit(9);
    MPI_Finalize();
    return 0;
}
