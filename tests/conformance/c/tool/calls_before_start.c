/* Calls that do not start the library do not take the process's place in its job: a program that this one executes
 * afterwards starts the library. The argument is the number of ranks. */
#include "tool.h"
#include <sys/wait.h>
#include <unistd.h>

static void ask_without_a_start(void)
{
    int number, length, class, zero = 0;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Info info;
    check_equal(MPI_T_pvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    check_equal(MPI_T_cvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    check_equal(MPI_T_category_changed(&number), MPI_T_ERR_NOT_INITIALIZED);
    check_equal(MPI_T_event_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    check_equal(MPI_T_pvar_get_info(0, NULL, &zero, NULL, NULL, NULL, NULL, NULL, &zero, NULL, NULL, NULL, NULL),
                MPI_T_ERR_NOT_INITIALIZED);
    check_equal(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    ok(MPI_Add_error_class(&class));
    ok(MPI_Add_error_string(class, "a class of this program"));
    ok(MPI_Error_string(class, text, &length));
    check(strcmp(text, "a class of this program") == 0);
    ok(MPI_Info_create_env(0, NULL, &info));
    ok(MPI_Info_free(&info));
    /* The environment sets the initial error handler to MPI_ERRORS_RETURN. */
    check_class(MPI_Comm_rank(MPI_COMM_WORLD, &number), MPI_ERR_OTHER);
    check_class(MPI_Type_size(MPI_DATATYPE_NULL, &number), MPI_ERR_OTHER);
}

int main(int argc, char **argv)
{
    int status = -1;
    if (argc > 2) {
        begin(&argc, &argv);
        check_equal(size, atoi(argv[1]));
        return finish();
    }
    ask_without_a_start();
    pid_t made = fork();
    if (made == 0) {
        ask_without_a_start();
        if (wrong == 0)
            execl(argv[0], argv[0], argv[1], "start", (char *)NULL);
        _exit(1);
    }
    check(made > 0 && waitpid(made, &status, 0) == made);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return wrong != 0;
}
