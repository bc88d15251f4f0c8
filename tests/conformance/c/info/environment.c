/* MPI_INFO_ENV describes how the program was started, and is read-only; MPI_Info_create_env returns a copy. */
#include "check.h"
#include <unistd.h>

static const char *entry(MPI_Info info, const char *key)
{
    static char value[MPI_MAX_INFO_VAL];
    int flag = 0, length = sizeof value;
    ok(MPI_Info_get_string(info, key, &length, value, &flag));
    return flag ? value : NULL;
}

/* The initial error handler of MPI_COMM_WORLD, as the value of the key. */
static const char *initial_handler(void)
{
    MPI_Errhandler handler;
    ok(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler));
    const char *name = handler == MPI_ERRORS_RETURN  ? "mpi_errors_return"
                       : handler == MPI_ERRORS_ABORT ? "mpi_errors_abort"
                                                     : "mpi_errors_are_fatal";
    ok(MPI_Errhandler_free(&handler));
    return name;
}

int main(int argc, char **argv)
{
    char name[MPI_MAX_PROCESSOR_NAME], folder[4096], number[20];
    int length;
    MPI_Info info, environment = MPI_INFO_ENV, copy;
    ok(MPI_Info_create_env(argc, argv, &info));
    check(getcwd(folder, sizeof folder) != NULL);
    begin(&argc, &argv);
    const char *handler = initial_handler();
    return_errors();
    snprintf(number, sizeof number, "%d", size);
    MPI_Get_processor_name(name, &length);
    for (int i = 0; i < 2; i++) {
        MPI_Info each = i ? MPI_INFO_ENV : info;
        const char *found = entry(each, "command");
        check(found && strcmp(found, argv[0]) == 0);
        found = entry(each, "argv");
        check(found && strcmp(found, "one two") == 0);
        found = entry(each, "maxprocs");
        check(found && strcmp(found, number) == 0);
        found = entry(each, "host");
        check(found && strcmp(found, name) == 0);
        found = entry(each, "wdir");
        check(found && strcmp(found, folder) == 0);
        found = entry(each, "mpi_initial_errhandler");
        check(found && strcmp(found, handler) == 0);
        check(entry(each, "arch") != NULL);
        check(entry(each, "file") == NULL);
    }
    check_class(MPI_Info_set(MPI_INFO_ENV, "key", "value"), MPI_ERR_INFO);
    check_class(MPI_Info_delete(MPI_INFO_ENV, "wdir"), MPI_ERR_INFO);
    check_class(MPI_Info_free(&environment), MPI_ERR_INFO);
    ok(MPI_Info_dup(MPI_INFO_ENV, &copy));
    ok(MPI_Info_set(copy, "wdir", "/"));
    ok(MPI_Info_free(&copy));
    ok(MPI_Info_free(&info));
    ok(MPI_Info_create_env(0, NULL, &info));
    check(entry(info, "wdir") != NULL);
    ok(MPI_Info_free(&info));
    return finish();
}
