/* MPI_Comm_join: two processes of different jobs, and two of one job, over a socket of their own, on which nothing is
 * left. */
#define _GNU_SOURCE
#include "jobs.h"

#include <sys/socket.h>
#include <sys/un.h>

static void joined(int fd, int mine)
{
    MPI_Comm inter;
    int word = mine, remote = -1;
    char byte = 'a' + mine;
    ok(MPI_Comm_join(fd, &inter));
    ok(MPI_Comm_remote_size(inter, &remote));
    check_equal(remote, 1);
    ok(MPI_Sendrecv_replace(&word, 1, MPI_INT, 0, 0, 0, 0, inter, MPI_STATUS_IGNORE));
    check_equal(word, !mine);
    ok(MPI_Comm_disconnect(&inter));
    /* The socket is the program's again. */
    check_equal(write(fd, &byte, 1), 1);
    check_equal(read(fd, &byte, 1), 1);
    check_equal(byte, 'a' + !mine);
    close(fd);
}

static struct sockaddr_un address(const char *name, socklen_t *length)
{
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    snprintf(place.sun_path + 1, sizeof place.sun_path - 1, "ferrum-test-%s", name);
    *length = (socklen_t)(sizeof place.sun_family + 1 + strlen(place.sun_path + 1));
    return place;
}

static int dial(const char *name)
{
    socklen_t length;
    struct sockaddr_un place = address(name, &length);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    check_equal(connect(fd, (struct sockaddr *)&place, length), 0);
    return fd;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (argc > 1) {
        joined(dial(argv[2]), 1);
        return finish_silently();
    }
    char name[32];
    if (rank == 0) {
        snprintf(name, sizeof name, "%ld", (long)getpid());
        socklen_t length;
        struct sockaddr_un place = address(name, &length);
        int listener = socket(AF_UNIX, SOCK_STREAM, 0);
        check_equal(bind(listener, (struct sockaddr *)&place, length), 0);
        check_equal(listen(listener, 5), 0);
        pid_t child = start_job(1, argv[0], "join", name);
        joined(accept(listener, NULL, NULL), 0);
        end_job(child);
        ok(MPI_Send(name, sizeof name, MPI_CHAR, 1, 0, MPI_COMM_WORLD));
        joined(accept(listener, NULL, NULL), 0);
        close(listener);
    } else if (rank == 1) {
        ok(MPI_Recv(name, sizeof name, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        joined(dial(name), 1);
    }
    int ends[2];
    MPI_Comm inter = MPI_COMM_NULL;
    return_errors();
    check_class(MPI_Comm_join(-1, &inter), MPI_ERR_ARG);
    check_equal(pipe(ends), 0);
    check_class(MPI_Comm_join(ends[0], &inter), MPI_ERR_ARG);
    check_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    close(ends[1]);
    check(class_of(MPI_Comm_join(ends[0], &inter)) != MPI_SUCCESS);
    check(inter == MPI_COMM_NULL);
    return finish();
}
