/* A program that cannot be started is an error in all processes, with a code for each process that was requested, and
 * nothing else changes; the same for arguments that are wrong at the root. */
#include "check.h"

static void refused(int expected, char *command, int maxprocs, MPI_Info info, int codes_expected)
{
    MPI_Comm children = MPI_COMM_WORLD;
    int codes[4] = {-1, -1, -1, -1}, value = rank, sum;
    check_class(MPI_Comm_spawn(command, MPI_ARGV_NULL, maxprocs, info, 0, MPI_COMM_WORLD, &children, codes), expected);
    check(children == MPI_COMM_WORLD);
    for (int i = 0; i < codes_expected; i++)
        check_class(codes[i], MPI_ERR_SPAWN);
    check_equal(codes[codes_expected], -1);
    /* The communicator goes on. */
    ok(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    check_equal(sum, size * (size - 1) / 2);
}

int main(int argc, char **argv)
{
    MPI_Info info;
    MPI_Comm parent = MPI_COMM_WORLD, inter, half;
    char text[MPI_MAX_ERROR_STRING];
    int length, code;
    begin(&argc, &argv);
    return_errors();
    ok(MPI_Comm_get_parent(&parent));
    check(parent == MPI_COMM_NULL);

    refused(MPI_ERR_SPAWN, "/nonexistent/program", 3, MPI_INFO_NULL, 3);
    refused(MPI_ERR_SPAWN, "no-such-program-in-path", 1, MPI_INFO_NULL, 1);
    refused(MPI_ERR_SPAWN, "/", 2, MPI_INFO_NULL, 2);
    refused(MPI_ERR_ARG, rank == 0 ? NULL : argv[0], 2, MPI_INFO_NULL, 0);
    refused(MPI_ERR_ARG, argv[0], rank == 0 ? 0 : 2, MPI_INFO_NULL, 0);
    refused(MPI_ERR_ARG, argv[0], rank == 0 ? -1 : 2, MPI_INFO_NULL, 0);
    ok(MPI_Info_create(&info));
    ok(MPI_Info_set(info, "host", "no-such-host"));
    refused(MPI_ERR_SPAWN, argv[0], 2, info, 2);
    ok(MPI_Info_set(info, "host", "localhost"));
    ok(MPI_Info_set(info, "wdir", "/nonexistent"));
    refused(MPI_ERR_SPAWN, argv[0], 2, info, 2);
    refused(MPI_ERR_ARG, rank == 0 ? "" : argv[0], 2, MPI_INFO_NULL, 0);
    ok(MPI_Info_set(info, "wdir", "."));
    ok(MPI_Info_set(info, "mpi_initial_errhandler", "mpi_errors_ignored"));
    refused(MPI_ERR_INFO_VALUE, argv[0], 2, info, 0);
    MPI_Info freed = info;
    ok(MPI_Info_free(&info));
    refused(MPI_ERR_INFO, argv[0], 2, rank == 0 ? freed : MPI_INFO_NULL, 0);

    /* Processes that end without MPI_Init. */
    refused(MPI_ERR_SPAWN, "true", 2, MPI_INFO_NULL, 2);

    /* The error of the root has the reason. */
    code = MPI_Comm_spawn("no-such-program", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                          MPI_ERRCODES_IGNORE);
    ok(MPI_Error_string(code, text, &length));
    check(rank > 0 || strstr(text, "no-such-program") != NULL);

    /* Only an intracommunicator spawns. */
    if (size > 1) {
        ok(MPI_Comm_split(MPI_COMM_WORLD, rank == 0, 0, &half));
        ok(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 3, &inter));
        ok(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
        check_class(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, inter, &parent, MPI_ERRCODES_IGNORE),
                    MPI_ERR_COMM);
        ok(MPI_Comm_free(&inter));
        ok(MPI_Comm_free(&half));
    }
    return finish();
}
