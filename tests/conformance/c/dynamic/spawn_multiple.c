/* Several programs spawned together are one world: ranks follow the order of the programs, MPI_APPNUM is the number of
 * the program, and each has the arguments and the info object of its own. */
#include "check.h"
#include <unistd.h>

static int child(MPI_Comm parent, int argc, char **argv)
{
    int *number, flag, first = 0;
    char directory[4096];
    ok(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag));
    check(flag);
    check_equal(size, 6);
    check_equal(*number, rank < 1 ? 0 : rank < 3 ? 1 : 2);
    check_equal(argc, *number == 1 ? 1 : 2);
    if (argc > 1)
        check(strcmp(argv[1], *number == 0 ? "first" : "third") == 0);
    check(getcwd(directory, sizeof directory) != NULL);
    if (*number == 2)
        check(strcmp(directory, "/") == 0);
    /* The root's value reaches all children. */
    ok(MPI_Bcast(&first, 1, MPI_INT, 0, parent));
    check_equal(first, 4711);
    ok(MPI_Gather(&wrong, 1, MPI_INT, NULL, 0, MPI_INT, 0, parent));
    ok(MPI_Comm_disconnect(&parent));
    MPI_Finalize();
    return wrong != 0;
}

int main(int argc, char **argv)
{
    MPI_Comm parent, children;
    MPI_Info infos[3] = {MPI_INFO_NULL, MPI_INFO_NULL, MPI_INFO_NULL};
    char path[4096], *first[] = {"first", NULL}, *third[] = {"third", NULL};
    int counts[] = {1, 2, 3}, codes[6] = {-1, -1, -1, -1, -1, -1}, faults[6], value = 4711;
    begin(&argc, &argv);
    ok(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL)
        return child(parent, argc, argv);

    check(realpath(argv[0], path) != NULL);
    char *commands[] = {path, path, path}, **arguments[] = {first, NULL, third};
    ok(MPI_Info_create(&infos[2]));
    ok(MPI_Info_set(infos[2], "wdir", "/"));
    ok(MPI_Info_set(infos[2], "unknown", "key"));
    ok(MPI_Comm_spawn_multiple(3, commands, arguments, counts, infos, 0, MPI_COMM_WORLD, &children, codes));
    ok(MPI_Info_free(&infos[2]));
    for (int i = 0; i < 6; i++)
        check_equal(codes[i], MPI_SUCCESS);
    int root = rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    ok(MPI_Bcast(&value, 1, MPI_INT, root, children));
    ok(MPI_Gather(NULL, 0, MPI_INT, faults, 1, MPI_INT, root, children));
    for (int i = 0; rank == 0 && i < 6; i++)
        check_equal(faults[i], 0);
    ok(MPI_Comm_disconnect(&children));
    return finish();
}
