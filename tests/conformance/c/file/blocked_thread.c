/* While one thread waits in the system for a file, other threads exchange messages; signals do not end its wait. */
#include "file/file.h"
#include <pthread.h>
#include <signal.h>

static char pipe_name[NAME];
static volatile sig_atomic_t interruptions, started;

static void interrupt(int number)
{
    interruptions += number == SIGUSR1;
}

/* Waits until a writer opens the pipe. */
static void *reader(void *nothing)
{
    MPI_File file;
    started = 1;
    ok(MPI_File_open(MPI_COMM_SELF, pipe_name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    ok(MPI_File_close(&file));
    return nothing;
}

int main(int argc, char **argv)
{
    int values[2], sum = 0;
    pthread_t thread;
    begin_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    name_of(pipe_name, "pipe");
    pipe_name[strlen(pipe_name) - 1] = (char)('a' + rank);
    check_equal(mkfifo(pipe_name, 0600), 0);
    /* Without SA_RESTART: the system's calls end with EINTR. */
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = interrupt;
    sigaction(SIGUSR1, &action, NULL);
    check_equal(pthread_create(&thread, NULL, reader, NULL), 0);
    while (!started)
        usleep(1000);
    for (int i = 0; i < 200; i++) {
        if (i % 50 == 25) {
            usleep(20000);
            pthread_kill(thread, SIGUSR1);
        }
        MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, 1, values, 1, MPI_INT, (rank + size - 1) % size, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += values[0];
    }
    check_equal(sum, 199 * 100);
    int end = open(pipe_name, O_WRONLY);
    check(end >= 0);
    pthread_join(thread, NULL);
    /* Only after the messages: a signal waits until its thread runs. */
    check(interruptions > 0);
    close(end);
    unlink(pipe_name);
    return finish();
}
