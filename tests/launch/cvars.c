/* Prints the values of control variables, by name: before MPI_Init, and, behind a "+", of one that a plug-in adds
 * after it. A name with "=" and a number is set first, before MPI_Init, and the error class of the result is
 * printed. */
#include <ferrum_tool.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void show(const char *word)
{
    char name[100], text[2000];
    const char *set = strchr(word, '=');
    int index, count, verbosity, bind, scope, class;
    unsigned long long value = 0;
    MPI_Datatype type;
    MPI_T_cvar_handle handle;
    snprintf(name, sizeof name, "%.*s", set ? (int)(set - word) : 99, word);
    if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS) {
        printf("%s does not exist\n", name);
        return;
    }
    MPI_T_cvar_get_info(index, NULL, NULL, &verbosity, &type, NULL, NULL, NULL, &bind, &scope);
    MPI_T_cvar_handle_alloc(index, NULL, &handle, &count);
    if (set) {
        value = strtoull(set + 1, NULL, 10);
        MPI_Error_class(MPI_T_cvar_write(handle, &value), &class);
        printf("%s is set: %s\n", name,
               class == MPI_T_ERR_CVAR_SET_NEVER ? "never" : class == MPI_SUCCESS ? "good" : "refused");
        value = 0;
    }
    if (type == MPI_CHAR) {
        MPI_T_cvar_read(handle, text);
        printf("%s=%s\n", name, text);
    } else {
        MPI_T_cvar_read(handle, &value);
        printf("%s=%llu\n", name, value);
    }
    MPI_T_cvar_handle_free(&handle);
}

int main(int argc, char **argv)
{
    int provided, rank;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    for (int i = 1; i < argc; i++)
        if (argv[i][0] != '+')
            show(argv[i]);
    fflush(stdout);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i < argc; i++)
        if (argv[i][0] == '+') {
            struct ferrum_tool_variable new = {.size = sizeof new, .name = argv[i] + 1, .category = "plugin",
                                               .scope = MPI_T_SCOPE_LOCAL, .datatype = MPI_INT, .count = 1,
                                               .initial = 3, .least = 1, .most = 9};
            uint64_t *word;
            if (ferrum_tool_add(&new, &word) == MPI_SUCCESS)
                show(argv[i] + 1);
        }
    MPI_Finalize();
    MPI_T_finalize();
    return 0;
}
