/* The tool interface of a spawned process is not initialised by that of the process that has spawned it. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Comm parent, children;
    int number = -1, provided = -1, state = -1, all = 0;
    const int is_child = argc > 1 && !strcmp(argv[1], "child");
    if (is_child)
        state = MPI_T_cvar_get_num(&number) == MPI_T_ERR_NOT_INITIALIZED;
    begin(&argc, &argv);
    return_errors();
    ok(MPI_Comm_get_parent(&parent));
    check_equal(parent != MPI_COMM_NULL, is_child);
    if (is_child) {
        check(state == 1);
        check_equal(MPI_T_cvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
        ok(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
        ok(MPI_T_cvar_get_num(&number));
        check(number > 0);
        ok(MPI_T_finalize());
        ok(MPI_Allreduce(&number, &all, 1, MPI_INT, MPI_SUM, parent));
        ok(MPI_Comm_disconnect(&parent));
        int total = 0;
        ok(MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
        check_equal(total, 0);
        ok(MPI_Finalize());
        return wrong != 0;
    }
    ok(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    ok(MPI_T_cvar_get_num(&number));
    char *arguments[] = {"child", NULL};
    ok(MPI_Comm_spawn(argv[0], arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE));
    int none = 0;
    ok(MPI_Allreduce(&none, &all, 1, MPI_INT, MPI_SUM, children));
    /* Each process sees as many variables. */
    check_equal(all, 2 * number);
    ok(MPI_Comm_disconnect(&children));
    ok(MPI_T_finalize());
    return finish();
}
