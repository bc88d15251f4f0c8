/* Names of ports, and errors of connections: in all processes of the communicator, wherever the root's fault lies. */
#include "jobs.h"

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME], other[MPI_MAX_PORT_NAME];
    MPI_Comm inter = MPI_COMM_NULL, dup;
    begin(&argc, &argv);
    return_errors();
    ok(MPI_Open_port(MPI_INFO_NULL, port));
    ok(MPI_Open_port(MPI_INFO_NULL, other));
    check(strlen(port) < MPI_MAX_PORT_NAME && strcmp(port, other) != 0);
    ok(MPI_Close_port(other));
    check_class(MPI_Close_port(other), MPI_ERR_PORT);
    check_class(MPI_Comm_connect(other, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
    check_class(MPI_Comm_connect("nothing", MPI_INFO_NULL, size - 1, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
    check_class(MPI_Comm_accept(other, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
    check_class(MPI_Comm_accept(rank == 0 ? NULL : port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter), MPI_ERR_ARG);
    check(inter == MPI_COMM_NULL);
    /* Nobody accepts, and nobody connects, within the time limit. The root's counts. */
    MPI_Info limit;
    ok(MPI_Info_create(&limit));
    ok(MPI_Info_set(limit, "timeout", rank == 0 ? "0.05" : "nonsense"));
    ok(MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD));
    check_class(MPI_Comm_connect(port, limit, 0, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
    check_class(MPI_Comm_accept(port, limit, 0, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
    ok(MPI_Info_set(limit, "timeout", rank == 0 ? "soon" : "1"));
    check_class(MPI_Comm_connect(port, limit, 0, MPI_COMM_WORLD, &inter), MPI_ERR_INFO_VALUE);
    check(inter == MPI_COMM_NULL);
    ok(MPI_Info_set(limit, "timeout", "50"));
    /* Two communicators of one job connect, too: those of the even and those of the odd ranks. */
    ok(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &dup));
    if (size > 1) {
        if (rank % 2 == 0)
            ok(MPI_Comm_accept(port, limit, 0, dup, &inter));
        else
            ok(MPI_Comm_connect(port, limit, 0, dup, &inter));
        exchange_with_all(inter, rank % 2);
        ok(MPI_Comm_disconnect(&inter));
    }
    ok(MPI_Info_free(&limit));
    ok(MPI_Comm_free(&dup));
    return finish();
}
