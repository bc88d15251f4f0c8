/* Fortran datatypes by class and size: a type of that size for each size that the class has, an error for others. */
#include "check.h"

static void sizes(int class, const char *name, const int *have, int count)
{
    for (int size = -1; size <= 64; size++) {
        MPI_Datatype type = MPI_DATATYPE_NULL;
        int exists = 0, bytes = -1, inner = -1;
        for (int i = 0; i < count; i++)
            exists |= have[i] == size;
        check_class(MPI_Type_match_size(class, size, &type), exists ? MPI_SUCCESS : MPI_ERR_ARG);
        check((type != MPI_DATATYPE_NULL) == exists);
        if (!exists)
            continue;
        ok(MPI_Type_size(type, &bytes));
        check_equal(bytes, size);
        /* It is a predefined type of that class. */
        char text[MPI_MAX_OBJECT_NAME] = "";
        ok(MPI_Type_get_name(type, text, &inner));
        check(strncmp(text, name, strlen(name)) == 0 && atoi(text + strlen(name)) == size);
    }
}

int main(int argc, char **argv)
{
    MPI_Datatype type;
    begin(&argc, &argv);
    return_errors();
    sizes(MPI_TYPECLASS_INTEGER, "MPI_INTEGER", (int[]){1, 2, 4, 8, 16}, 5);
    sizes(MPI_TYPECLASS_REAL, "MPI_REAL", (int[]){2, 4, 8, 16}, 4);
    sizes(MPI_TYPECLASS_COMPLEX, "MPI_COMPLEX", (int[]){4, 8, 16, 32}, 4);
    check_class(MPI_Type_match_size(-1, 4, &type), MPI_ERR_ARG);
    check_class(MPI_Type_match_size(MPI_TYPECLASS_COMPLEX + 1, 4, &type), MPI_ERR_ARG);
    check_class(MPI_Type_match_size(MPI_TYPECLASS_REAL, 4, NULL), MPI_ERR_ARG);
    return finish();
}
