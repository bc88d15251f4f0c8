/* MPI_Abort, and MPI_ERRORS_ABORT, on a communicator of some processes end those; the others continue with each other,
 * and a call that needs a process that has ended is an error of class MPI_ERR_PROC_ABORTED in them. */
#include "check.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { CODE = 3, COUNT = 100, LONG = 3 << 20, MOST = 64 };

/* Rank `dead` of `comm` has ended, or ends at any time. */
static void needs(MPI_Comm comm, int dead)
{
    int word = 1, sum = 0, flag = 0;
    MPI_Request requests[2];
    MPI_Status status;
    check_class(MPI_Recv(&word, 1, MPI_INT, dead, 9, comm, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
    check_class(MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 9, comm, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
    check_class(MPI_Probe(dead, 9, comm, &status), MPI_ERR_PROC_ABORTED);
    check_class(MPI_Iprobe(dead, 9, comm, &flag, &status), MPI_ERR_PROC_ABORTED);
    check_class(MPI_Send(&word, 1, MPI_INT, dead, 9, comm), MPI_ERR_PROC_ABORTED);
    check_class(MPI_Ssend(&word, 1, MPI_INT, dead, 9, comm), MPI_ERR_PROC_ABORTED);
    check_class(MPI_Barrier(comm), MPI_ERR_PROC_ABORTED);
    check_class(MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_PROC_ABORTED);
    ok(MPI_Irecv(&word, 1, MPI_INT, dead, 9, comm, &requests[0]));
    while (!flag) {
        int result = MPI_Test(&requests[0], &flag, &status);
        check(flag ? class_of(result) == MPI_ERR_PROC_ABORTED : result == MPI_SUCCESS);
    }
    char data[40] = {0};
    ok(MPI_Psend_init(data, 4, 10, MPI_CHAR, dead, 5, comm, MPI_INFO_NULL, &requests[0]));
    ok(MPI_Start(&requests[0]));
    ok(MPI_Pready_range(0, 3, requests[0]));
    check_class(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
    ok(MPI_Request_free(&requests[0]));
    ok(MPI_Precv_init(data, 4, 10, MPI_CHAR, dead, 5, comm, MPI_INFO_NULL, &requests[0]));
    ok(MPI_Start(&requests[0]));
    check_class(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
    ok(MPI_Request_free(&requests[0]));
    int result = MPI_Ibarrier(comm, &requests[0]);
    check_equal(class_of(result ? result : MPI_Wait(&requests[0], &status)), MPI_ERR_PROC_ABORTED);
}

/* The processes of `comm`, whose ranks in `world` are `ranks`, continue with each other. */
static void continues(MPI_Comm world, MPI_Comm comm, const int *ranks, int count)
{
    int own, words[2], sum = 0, one = 1;
    ok(MPI_Comm_rank(comm, &own));
    for (int round = 0; round < 20; round++) {
        ok(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
        check_equal(sum, count);
        ok(MPI_Barrier(comm));
        int next = ranks[(own + 1) % count], before = ranks[(own + count - 1) % count];
        words[0] = rank * 100 + round;
        ok(MPI_Sendrecv(&words[0], 1, MPI_INT, next, round, &words[1], 1, MPI_INT, before, round, world,
                        MPI_STATUS_IGNORE));
        check_equal(words[1], before * 100 + round);
    }
    char *data = malloc(LONG), *room = malloc(LONG);
    int next = ranks[(own + 1) % count], before = ranks[(own + count - 1) % count];
    fill(data, LONG, rank);
    ok(MPI_Sendrecv(data, LONG, MPI_CHAR, next, 0, room, LONG, MPI_CHAR, before, 0, world, MPI_STATUS_IGNORE));
    check(filled(room, LONG, before));
    free(data);
    free(room);
}

/* The verdict of the processes of a communicator. */
static int finish_left(MPI_Comm comm)
{
    int total = 0, own = 0;
    MPI_Comm_rank(comm, &own);
    MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, comm);
    if (own == 0 && total == 0)
        printf("Those that are left found no errors\n");
    fflush(stdout);
    ok(MPI_Finalize());
    return total != 0;
}

/* Ranks of the world that a test keeps: all but one, or the even ones. */
static int kept(int all_but_last, int *ranks)
{
    int count = 0;
    for (int i = 0; i < size; i++)
        if (all_but_last ? i < size - 1 : i % 2 == 0)
            ranks[count++] = i;
    return count;
}

/* The last rank aborts MPI_COMM_SELF, or a session of its own has an error. */
static int alone(int by_call)
{
    int ranks[MOST], count = kept(1, ranks), word;
    MPI_Comm left;
    MPI_Request early = MPI_REQUEST_NULL;
    if (rank < size - 1)
        ok(MPI_Isend(&rank, 1, MPI_INT, size - 1, 8, MPI_COMM_WORLD, &early));
    ok(MPI_Comm_split(MPI_COMM_WORLD, rank == size - 1, 0, &left));
    if (rank == size - 1) {
        for (int i = 0; i < COUNT; i++)
            ok(MPI_Send(&i, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
        if (by_call)
            MPI_Abort(MPI_COMM_SELF, CODE);
        ok(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ABORT));
        MPI_Send(&word, -1, MPI_INT, 0, 0, MPI_COMM_SELF);
    }
    for (int i = 0; i < COUNT && rank == 0; i++) {
        /* What it sent before arrives. */
        ok(MPI_Recv(&word, 1, MPI_INT, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        check_equal(word, i);
    }
    needs(MPI_COMM_WORLD, size - 1);
    /* A send that was complete before is not cancelled any more. */
    int cancelled = 1;
    MPI_Status status;
    ok(MPI_Cancel(&early));
    ok(MPI_Wait(&early, &status));
    ok(MPI_Test_cancelled(&status, &cancelled));
    check(!cancelled);
    continues(MPI_COMM_WORLD, left, ranks, count);
    /* Those that are left make new communicators, of the world's group and of a session's. */
    MPI_Group world, others;
    MPI_Comm made;
    ok(MPI_Comm_group(MPI_COMM_WORLD, &world));
    ok(MPI_Group_incl(world, count, ranks, &others));
    ok(MPI_Comm_create_group(MPI_COMM_WORLD, others, 11, &made));
    continues(MPI_COMM_WORLD, made, ranks, count);
    ok(MPI_Comm_free(&made));
    ok(MPI_Comm_create_from_group(others, "those left", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
    continues(MPI_COMM_WORLD, made, ranks, count);
    ok(MPI_Comm_free(&made));
    ok(MPI_Comm_dup(left, &made));
    continues(MPI_COMM_WORLD, made, ranks, count);
    ok(MPI_Comm_free(&made));
    return finish_left(left);
}

/* The odd ranks end together: one aborts their communicator, or has an error on it. Some of them ignore SIGTERM. */
static int half(int by_call)
{
    int ranks[MOST], count = kept(0, ranks);
    MPI_Comm part;
    ok(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &part));
    if (rank % 2) {
        int word;
        ok(MPI_Comm_set_errhandler(part, MPI_ERRORS_ABORT));
        if (rank == 3)
            signal(SIGTERM, SIG_IGN);
        if (rank == 1 && by_call)
            MPI_Abort(part, CODE);
        if (rank == 1)
            MPI_Send(&word, -1, MPI_INT, 0, 0, part);
        for (;;)
            pause();
    }
    for (int i = 1; i < size; i += 2)
        needs(MPI_COMM_WORLD, i);
    continues(MPI_COMM_WORLD, part, ranks, count);
    return finish_left(part);
}

/* The ranks abort one after the other, from the last one down, while the others are in all kinds of calls. */
static int one_by_one(void)
{
    int word = 0, sum;
    MPI_Comm left = MPI_COMM_WORLD, next;
    for (int last = size - 1; last > 0; last--) {
        ok(MPI_Comm_split(left, rank == last, 0, &next));
        if (rank == last) {
            struct timespec while_they_wait = {0, 20000000};
            nanosleep(&while_they_wait, NULL);
            MPI_Abort(next, CODE + last);
        }
        MPI_Request request = MPI_REQUEST_NULL;
        if (last % 3 == 0)
            check_class(MPI_Barrier(left), MPI_ERR_PROC_ABORTED);
        else if (last % 3 == 1)
            check_class(MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, left), MPI_ERR_PROC_ABORTED);
        else if (rank % 2)
            check_class(MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 7, left, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
        else {
            ok(MPI_Irecv(&word, 1, MPI_INT, last, 7, left, &request));
            check_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
        }
        needs(left, last);
        left = next;
        ok(MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN));
        ok(MPI_Barrier(left));
    }
    return finish_left(left);
}

/* The last rank aborts while a long message from it, and one to it, are under way. */
static int long_messages(void)
{
    MPI_Comm left;
    MPI_Request requests[2];
    char *data = calloc(LONG, 1), *room = calloc(LONG, 1);
    int result;
    ok(MPI_Comm_split(MPI_COMM_WORLD, rank == size - 1, 0, &left));
    if (rank == size - 1) {
        ok(MPI_Isend(data, LONG, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &requests[0]));
        ok(MPI_Barrier(MPI_COMM_WORLD));
        MPI_Abort(MPI_COMM_SELF, CODE);
    }
    ok(MPI_Isend(data, LONG, MPI_CHAR, size - 1, 1, MPI_COMM_WORLD, &requests[0]));
    ok(MPI_Barrier(MPI_COMM_WORLD));
    result = MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    check(class_of(result) == MPI_ERR_PROC_ABORTED);
    if (rank == 0)
        /* Its memory is gone, or was there long enough. */
        result = MPI_Recv(room, LONG, MPI_CHAR, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(result == MPI_SUCCESS || class_of(result) == MPI_ERR_PROC_ABORTED);
    free(data);
    free(room);
    return finish_left(left);
}

/* A communicator whose handler is MPI_ERRORS_ARE_FATAL ends all, and the first code is that of the job. */
static int fatal(void)
{
    if (rank == size - 1)
        MPI_Abort(MPI_COMM_SELF, CODE);
    ok(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    MPI_Barrier(MPI_COMM_WORLD);
    printf("not reached\n");
    return 0;
}

/* All processes of a duplicate of the world are all of the job. */
static int world(void)
{
    MPI_Comm all;
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &all));
    if (rank == size - 1)
        MPI_Abort(all, CODE);
    for (;;)
        pause();
    return 0;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "";
    ok(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    if (!strcmp(what, "self"))
        return alone(1);
    if (!strcmp(what, "self-error"))
        return alone(0);
    if (!strcmp(what, "half"))
        return half(1);
    if (!strcmp(what, "half-error"))
        return half(0);
    if (!strcmp(what, "one-by-one"))
        return one_by_one();
    if (!strcmp(what, "long"))
        return long_messages();
    if (!strcmp(what, "fatal"))
        return fatal();
    return world();
}
