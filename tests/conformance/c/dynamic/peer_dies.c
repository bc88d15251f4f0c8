/* A process of another job that ends without a word: operations with it fail, and nothing waits for ever. */
#include "jobs.h"

#include <signal.h>

int main(int argc, char **argv)
{
    MPI_Comm inter;
    begin(&argc, &argv);
    if (argc > 1) {
        int word = 11;
        ok(MPI_Comm_connect(argv[2], MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
        ok(MPI_Send(&word, 1, MPI_INT, 0, 0, inter));
        raise(SIGKILL);
    }
    char port[MPI_MAX_PORT_NAME] = "";
    pid_t child = 0;
    int word = 0, flag = 0, class;
    char *data = calloc(1, 1 << 20);
    MPI_Request request;
    if (rank == 0) {
        ok(MPI_Open_port(MPI_INFO_NULL, port));
        child = start_job(0, argv[0], "die", port);
    }
    ok(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    ok(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    if (rank == 0) {
        ok(MPI_Recv(&word, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE));
        check_equal(word, 11);
        check_class(MPI_Recv(&word, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
        check_class(MPI_Send(data, 1 << 20, MPI_CHAR, 0, 0, inter), MPI_ERR_PROC_ABORTED);
        check_class(MPI_Probe(0, 0, inter, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
    } else {
        check_class(MPI_Ssend(&word, 1, MPI_INT, 0, 0, inter), MPI_ERR_PROC_ABORTED);
    }
    ok(MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 0, inter, &request));
    /* Found by a program that never waits. */
    do
        class = class_of(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    while (class == MPI_SUCCESS && !flag);
    check_equal(class, MPI_ERR_PROC_ABORTED);
    /* Partitioned operations, started before it has ended or after. */
    ok(MPI_Psend_init(data, 4, 100, MPI_CHAR, 0, 5, inter, MPI_INFO_NULL, &request));
    ok(MPI_Start(&request));
    ok(MPI_Pready_range(0, 3, request));
    check_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
    ok(MPI_Request_free(&request));
    ok(MPI_Precv_init(data, 4, 100, MPI_CHAR, 0, 5, inter, MPI_INFO_NULL, &request));
    ok(MPI_Start(&request));
    check_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
    ok(MPI_Request_free(&request));
    check_class(MPI_Barrier(inter), MPI_ERR_PROC_ABORTED);
    ok(MPI_Barrier(MPI_COMM_WORLD));
    ok(MPI_Comm_disconnect(&inter));
    if (rank == 0) {
        int status;
        waitpid(child, &status, 0);
        check(WIFSIGNALED(status));
    }
    free(data);
    return finish();
}
