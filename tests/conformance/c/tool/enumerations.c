/* The enumeration of a variable has a name and items with names; an index outside is refused. */
#include "tool.h"

static void inquire(MPI_T_enum items)
{
    char name[256];
    int length = (int)sizeof name, number = -1, again = -2, value;
    ok(MPI_T_enum_get_info(items, &number, name, &length));
    ok(MPI_T_enum_get_info(items, &again, NULL, NULL));
    check_equal(again, number);
    check(number >= 1);
    check(strlen(name) >= 1);
    for (int i = 0; i < number; i++) {
        length = (int)sizeof name;
        ok(MPI_T_enum_get_item(items, i, &value, name, &length));
        check(strlen(name) >= 1);
    }
    check_equal(MPI_T_enum_get_item(items, number, &value, name, &length), MPI_T_ERR_INVALID_INDEX);
    check_equal(MPI_T_enum_get_item(items, -1, &value, name, &length), MPI_T_ERR_INVALID_INDEX);
}

int main(int argc, char **argv)
{
    int number = 0, found = 0;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_get_num(&number));
    for (int i = 0; i < number; i++) {
        struct pvar_info info = pvar_info(i);
        if (info.items != MPI_T_ENUM_NULL) {
            check(info.type == MPI_INT);
            inquire(info.items);
            found++;
        }
    }
    check(found >= 1);
    found = 0;
    ok(MPI_T_cvar_get_num(&number));
    for (int i = 0; i < number; i++) {
        MPI_T_enum items = MPI_T_ENUM_NULL;
        MPI_Datatype type;
        ok(MPI_T_cvar_get_info(i, NULL, NULL, NULL, &type, &items, NULL, NULL, NULL, NULL));
        if (items != MPI_T_ENUM_NULL) {
            check(type == MPI_INT);
            inquire(items);
            found++;
        }
    }
    check(found >= 1);
    MPI_T_finalize();
    return finish();
}
