/* Strings come back whole or cut, always ended; a null pointer or a length of 0 asks for the length with its end. */
#include "tool.h"

static int ask(int index, char *name, int *length)
{
    return MPI_T_pvar_get_info(index, name, length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
}

int main(int argc, char **argv)
{
    char whole[256], part[256];
    int number = 0;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_get_num(&number));
    for (int index = 0; index < number; index++) {
        int length = (int)sizeof whole, zero = 0, any = 77;
        ok(ask(index, whole, &length));
        int full = (int)strlen(whole) + 1;
        check(full > 1);
        ok(ask(index, NULL, &any));
        check_equal(any, full);
        memset(part, 'x', sizeof part);
        ok(ask(index, part, &zero));
        check_equal(zero, full);
        check(part[0] == 'x');
        for (int room = 1; room <= full; room += full / 3 + 1) {
            int given = room;
            memset(part, 'x', sizeof part);
            ok(ask(index, part, &given));
            check_equal(strlen(part), room - 1);
            check(strncmp(part, whole, (size_t)room - 1) == 0);
            check(part[room] == 'x');
        }
        /* No string wanted at all. */
        ok(ask(index, NULL, NULL));
    }
    MPI_T_finalize();
    return finish();
}
