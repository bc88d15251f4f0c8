/* Every control variable has a type, a scope and a name that finds it. A writable variable has the written value
 * afterwards; the others return the code that the standard defines. */
#include "tool.h"

int main(int argc, char **argv)
{
    int number = 0, index;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_cvar_get_num(&number));
    check(number > 0);
    for (int i = 0; i < number; i++) {
        char name[256], value[1024], again[1024], text[2048];
        int length = (int)sizeof name, text_length = (int)sizeof text, verbosity, bind, scope, count = 0;
        MPI_Datatype type;
        MPI_T_enum items;
        MPI_T_cvar_handle handle;
        ok(MPI_T_cvar_get_info(i, name, &length, &verbosity, &type, &items, text, &text_length, &bind, &scope));
        /* The enumeration, or else the description, lists the permitted values. */
        check((items == MPI_T_ENUM_NULL) == (strstr(text, " Values: ") != NULL));
        if (strcmp(name, "p2p_eager_limit") == 0)
            check(strstr(text, "Values: a whole number from 0 to 1073741824.") != NULL);
        check(scope >= MPI_T_SCOPE_CONSTANT && scope <= MPI_T_SCOPE_ALL_EQ);
        ok(MPI_T_cvar_get_index(name, &index));
        check_equal(index, i);
        if (bind != MPI_T_BIND_NO_OBJECT)
            continue;
        ok(MPI_T_cvar_handle_alloc(i, NULL, &handle, &count));
        check(count >= 1);
        memset(value, 0, sizeof value);
        ok(MPI_T_cvar_read(handle, value));
        int code = MPI_T_cvar_write(handle, value);
        if (scope == MPI_T_SCOPE_CONSTANT || scope == MPI_T_SCOPE_READONLY)
            check_equal(code, MPI_T_ERR_CVAR_SET_NEVER);
        else
            check(code == MPI_SUCCESS || code == MPI_T_ERR_CVAR_SET_NOT_NOW);
        memset(again, 0, sizeof again);
        ok(MPI_T_cvar_read(handle, again));
        check(memcmp(value, again, sizeof value) == 0);
        ok(MPI_T_cvar_handle_free(&handle));
        check(handle == MPI_T_CVAR_HANDLE_NULL);
    }
    check_equal(MPI_T_cvar_get_index("no such variable", &index), MPI_T_ERR_INVALID_NAME);
    check_equal(MPI_T_cvar_get_info(number, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
                MPI_T_ERR_INVALID_INDEX);
    MPI_T_finalize();
    return finish();
}
