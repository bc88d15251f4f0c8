/* Lists the control variables of the library with their values, and changes one. docs/tools.md explains it.
 *
 *   mpicc list_cvars.c -o list_cvars && ./list_cvars p2p_eager
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* Prints the name of a value of an enumeration. */
static int print_name(MPI_T_enum values, int wanted)
{
    char name[64];
    int items, length = sizeof name, value;
    if (values == MPI_T_ENUM_NULL || MPI_T_enum_get_info(values, &items, name, &length) != MPI_SUCCESS)
        return 0;
    for (int item = 0; item < items; item++) {
        length = sizeof name;
        if (MPI_T_enum_get_item(values, item, &value, name, &length) == MPI_SUCCESS && value == wanted)
            return printf("%s", name);
    }
    return 0;
}

/* Prints a variable's value; tools need a case for each datatype that variables can have. */
static void print(MPI_T_cvar_handle handle, MPI_Datatype type, int count, MPI_T_enum values)
{
    union {
        int number;
        unsigned small;
        unsigned long middle;
        unsigned long long large;
        double real;
        char text[4096];
    } value;
    if (type == MPI_CHAR && count > (int)sizeof value.text)
        printf("a text of up to %d characters", count - 1);
    else if ((type != MPI_CHAR && count != 1) || MPI_T_cvar_read(handle, &value) != MPI_SUCCESS)
        printf("not read");
    else if (type == MPI_CHAR)
        printf("\"%s\"", value.text);
    else if (type == MPI_INT && print_name(values, value.number))
        return;
    else if (type == MPI_INT)
        printf("%d", value.number);
    else if (type == MPI_UNSIGNED)
        printf("%u", value.small);
    else if (type == MPI_UNSIGNED_LONG)
        printf("%lu", value.middle);
    else if (type == MPI_DOUBLE)
        printf("%g", value.real);
    else
        printf("%llu", value.large);
}

int main(int argc, char **argv)
{
    int provided, number, index, count;
    MPI_T_cvar_handle handle;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_cvar_get_num(&number);
    for (index = 0; index < number; index++) {
        char name[256], text[1024];
        int name_length = sizeof name, text_length = sizeof text, verbosity, bind, scope;
        MPI_Datatype type;
        MPI_T_enum values;
        MPI_T_cvar_get_info(index, name, &name_length, &verbosity, &type, &values, text, &text_length, &bind, &scope);
        /* A variable that is bound to an object has a value for each such object. */
        if ((argc > 1 && !strstr(name, argv[1])) || bind != MPI_T_BIND_NO_OBJECT ||
            MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
            continue;
        printf("%s = ", name);
        print(handle, type, count, values);
        printf("\n    %s\n", text);
        MPI_T_cvar_handle_free(&handle);
    }

    if (MPI_T_cvar_get_index("p2p_eager_limit", &index) == MPI_SUCCESS &&
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS) {
        unsigned long long limit = 32768;
        int error = MPI_T_cvar_write(handle, &limit);
        MPI_T_cvar_read(handle, &limit);
        printf("p2p_eager_limit is now %llu (%s)\n", limit, error == MPI_SUCCESS ? "written" : "refused");
        MPI_T_cvar_handle_free(&handle);
    }
    return MPI_T_finalize();
}
