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
    /* Two communicators of one job connect, too: those of the even and those of the odd ranks. */
    ok(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &dup));
    ok(MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD));
    if (size > 1) {
        if (rank % 2 == 0)
            ok(MPI_Comm_accept(port, MPI_INFO_NULL, 0, dup, &inter));
        else
            ok(MPI_Comm_connect(port, MPI_INFO_NULL, 0, dup, &inter));
        exchange_with_all(inter, rank % 2);
        ok(MPI_Comm_disconnect(&inter));
    }
    ok(MPI_Comm_free(&dup));
    return finish();
}
