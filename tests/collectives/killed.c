/* A rank that is killed inside a collective operation: all ranks make one call again and again, and one of them ends by
 * SIGKILL, by a timer, while it does. Arguments: the function without MPI_, and the rank; `groups`: on an
 * intercommunicator, with long data; `long`: with data that are longer than the parts of the shared memory. */
#include "tasks.h"
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static void end(int signal)
{
    (void)signal;
    kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
    static struct task task;
    int rank;
    const uint64_t seed = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    make_all(1);
    const struct call *call = NULL;
    for (unsigned i = 0; argc > 2 && i < LENGTH(calls); i++)
        if (strcmp(calls[i].name, argv[1]) == 0)
            call = &calls[i];
    if (call == NULL) {
        fprintf(stderr, "no such function\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    /* The world, the first topology, or two groups of all ranks. */
    const struct place *place = places;
    const char *manner = argc > 3 ? argv[3] : "";
    int groups = strcmp(manner, "groups") == 0, is_long = strcmp(manner, "long") == 0;
    const struct place *end_of_places = places + place_count;
    while (groups && place < end_of_places && !is_named(place, "odd ranks to even ranks"))
        place++;
    while (along_edges(operation_of(call)) && place < end_of_places && place->kind != NEIGHBORS)
        place++;
    if (place == end_of_places) {
        fprintf(stderr, "three ranks or more\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    /* Errors end the job, as they do by default. */
    OK(MPI_Comm_set_errhandler(place->comm, MPI_ERRORS_ARE_FATAL));
    const struct fixed fixed = {0, MIDDLE, is_long ? 300000 : groups ? 20000 : 100, -1};
    prepare(&task, call, place, seed, NULL, &fixed);
    begin_round(&task);
    if (rank == atoi(argv[2])) {
        struct itimerval once = {{0, 0}, {0, 40000}};
        signal(SIGALRM, end);
        setitimer(ITIMER_REAL, &once, NULL);
    }
    for (int again = 0;; again = 1) {
        if (again && call->form == PERSISTENT)
            MPI_Start(&task.request);
        else if (again)
            call->function(&task.args, &task.request);
        if (call->form != BLOCKING)
            MPI_Wait(&task.request, MPI_STATUS_IGNORE);
    }
}
