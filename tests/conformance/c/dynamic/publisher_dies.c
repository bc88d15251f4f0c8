/* A process that has published a name is killed: the name is gone although a process that it has forked lives on, its
 * port is an error, and another process publishes the name again. Processes that are killed while they publish or
 * withdraw a name leave nothing that hinders others. */
#include "jobs.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>

enum { KILLED = 4 };

static const double limit_s = 20;
static char service[64];

/* Publishes the name, forks a process that lives until nothing more comes from the socket, and waits to be killed. */
static void publish(int end)
{
    char port[MPI_MAX_PORT_NAME], byte;
    ok(MPI_Open_port(MPI_INFO_NULL, port));
    if (fork() == 0) {
        while (read(end, &byte, 1) < 0 && errno == EINTR)
            ;
        _exit(0);
    }
    ok(MPI_Publish_name(service, MPI_INFO_NULL, port));
    for (;;)
        pause();
}

/* Publishes and withdraws the name until it is killed. */
static void publish_again_and_again(void)
{
    for (;;) {
        ok(MPI_Publish_name(service, MPI_INFO_NULL, "often"));
        usleep(3000);
        ok(MPI_Unpublish_name(service, MPI_INFO_NULL, "often"));
    }
}

/* Looks the name up until the call gives this error class. */
static void look_until(int class, char *found)
{
    double end = MPI_Wtime() + limit_s;
    int got;
    do
        got = class_of(MPI_Lookup_name(service, MPI_INFO_NULL, found));
    while (got != class && (got == MPI_SUCCESS || got == MPI_ERR_NAME) && MPI_Wtime() < end && usleep(1000) == 0);
    check_equal(got, class);
}

static void kill_job(pid_t child)
{
    int status = -1;
    check_equal(kill(child, SIGKILL), 0);
    check_equal(waitpid(child, &status, 0), child);
    check(WIFSIGNALED(status));
}

/* One rank after the other publishes the name, and all find its port. */
static void publish_in_turn(void)
{
    char found[MPI_MAX_PORT_NAME], port[40];
    for (int turn = 0; turn < size; turn++) {
        snprintf(port, sizeof port, "the port of rank %d", turn);
        if (rank == turn)
            ok(MPI_Publish_name(service, MPI_INFO_NULL, port));
        MPI_Barrier(MPI_COMM_WORLD);
        ok(MPI_Lookup_name(service, MPI_INFO_NULL, found));
        check(strcmp(found, port) == 0);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == turn)
            ok(MPI_Unpublish_name(service, MPI_INFO_NULL, port));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    check_class(MPI_Lookup_name(service, MPI_INFO_NULL, found), MPI_ERR_NAME);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    char found[MPI_MAX_PORT_NAME] = "", number[16];
    pid_t child = 0;
    int ends[2] = {-1, -1};
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Info info;
    begin(&argc, &argv);
    return_errors();
    if (argc > 2) {
        snprintf(service, sizeof service, "%s", argv[1]);
        /* If nobody kills it. */
        alarm(60);
        if (atoi(argv[2]) >= 0)
            publish(atoi(argv[2]));
        publish_again_and_again();
    }
    if (rank == 0)
        snprintf(service, sizeof service, "ferrum publisher %ld", (long)getpid());
    MPI_Bcast(service, sizeof service, MPI_CHAR, 0, MPI_COMM_WORLD);
    check_class(MPI_Lookup_name(service, MPI_INFO_NULL, found), MPI_ERR_NAME);
    MPI_Barrier(MPI_COMM_WORLD);

    if (rank == 0) {
        check_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        check_equal(fcntl(ends[0], F_SETFD, FD_CLOEXEC), 0);
        snprintf(number, sizeof number, "%d", ends[1]);
        child = start_job(0, argv[0], service, number);
        close(ends[1]);
    }
    look_until(MPI_SUCCESS, found);
    check_class(MPI_Publish_name(service, MPI_INFO_NULL, "mine"), MPI_ERR_SERVICE);
    check_class(MPI_Unpublish_name(service, MPI_INFO_NULL, found), MPI_ERR_SERVICE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        kill_job(child);
    /* All look while it is killed. */
    char gone[MPI_MAX_PORT_NAME] = "";
    look_until(MPI_ERR_NAME, gone);
    MPI_Barrier(MPI_COMM_WORLD);
    publish_in_turn();
    /* The forked process has the sockets of the port too, so it ends first. */
    if (rank == 0) {
        char byte;
        check_equal(shutdown(ends[0], SHUT_WR), 0);
        check_equal(read(ends[0], &byte, 1), 0);
        close(ends[0]);
    }
    ok(MPI_Info_create(&info));
    ok(MPI_Info_set(info, "timeout", "10"));
    /* Its sockets may be closing still: then it seems to have ended after the connection was made. */
    int class = class_of(MPI_Comm_connect(found, info, 0, MPI_COMM_WORLD, &inter));
    check(class == MPI_ERR_PORT || class == MPI_ERR_PROC_ABORTED);
    check(inter == MPI_COMM_NULL);
    ok(MPI_Info_free(&info));

    for (int i = 0; i < KILLED; i++) {
        if (rank == 0) {
            child = start_job(0, argv[0], service, "-1");
            look_until(MPI_SUCCESS, found);
            check(strcmp(found, "often") == 0);
            usleep(1700 * i);
            kill_job(child);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        publish_in_turn();
    }
    return finish();
}
