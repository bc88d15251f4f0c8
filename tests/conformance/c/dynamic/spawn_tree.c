/* Spawned processes spawn others, three levels deep; each level reports the number of all processes below it to the
 * level above, and all end in any order. */
#include "check.h"

#define WIDTH 2
#define DEPTH 3

int main(int argc, char **argv)
{
    MPI_Comm parent, children;
    begin(&argc, &argv);
    ok(MPI_Comm_get_parent(&parent));
    int depth = argc > 1 ? atoi(argv[1]) : 0, below = 0, processes = 1;
    check((depth == 0) == (parent == MPI_COMM_NULL));
    if (depth < DEPTH) {
        char next[12], *arguments[] = {next, NULL};
        snprintf(next, sizeof next, "%d", depth + 1);
        ok(MPI_Comm_spawn(argv[0], arguments, WIDTH, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                          MPI_ERRCODES_IGNORE));
        ok(MPI_Reduce(NULL, &below, 1, MPI_INT, MPI_SUM, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, children));
        if (depth % 2)
            ok(MPI_Comm_disconnect(&children));
    }
    if (depth == 0) {
        /* The processes of a level that have spawned together are one parent of WIDTH children. */
        check_equal(below, DEPTH * WIDTH);
        return finish();
    }
    processes += rank == 0 ? below : 0;
    ok(MPI_Reduce(&processes, NULL, 1, MPI_INT, MPI_SUM, 0, parent));
    MPI_Finalize();
    return wrong != 0;
}
