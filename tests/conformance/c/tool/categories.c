/* Categories form a hierarchy, their members exist, their counts are what the lists hold, and their names find them. */
#include "tool.h"

int main(int argc, char **argv)
{
    int number = 0, pvars, cvars, stamp = -1, again = -2, index;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_category_changed(&stamp));
    ok(MPI_T_category_get_num(&number));
    ok(MPI_T_pvar_get_num(&pvars));
    ok(MPI_T_cvar_get_num(&cvars));
    check(number > 0);
    int *seen = calloc((size_t)pvars + 1, sizeof *seen);
    for (int i = 0; i < number; i++) {
        char name[256];
        int length = (int)sizeof name, counts[3] = {-1, -1, -1};
        ok(MPI_T_category_get_info(i, name, &length, NULL, NULL, &counts[0], &counts[1], &counts[2]));
        ok(MPI_T_category_get_index(name, &index));
        check_equal(index, i);
        int limits[3] = {cvars, pvars, number};
        int (*const lists[3])(int, int, int[]) = {MPI_T_category_get_cvars, MPI_T_category_get_pvars,
                                                  MPI_T_category_get_categories};
        for (int kind = 0; kind < 3; kind++) {
            int *members = malloc(sizeof(int) * ((size_t)counts[kind] + 1));
            members[counts[kind]] = -99;
            ok(lists[kind](i, counts[kind], members));
            check_equal(members[counts[kind]], -99);
            for (int m = 0; m < counts[kind]; m++) {
                check(members[m] >= 0 && members[m] < limits[kind]);
                check(kind != 2 || members[m] != i);
                if (kind == 1 && members[m] >= 0 && members[m] < pvars)
                    seen[members[m]]++;
            }
            free(members);
        }
    }
    for (int i = 0; i < pvars; i++)
        check(seen[i] >= 1);
    free(seen);
    ok(MPI_T_category_changed(&again));
    check_equal(stamp, again);
    check_equal(MPI_T_category_get_index("no such category", &index), MPI_T_ERR_INVALID_NAME);
    check_equal(MPI_T_category_get_cvars(number, 1, &index), MPI_T_ERR_INVALID_INDEX);
    MPI_T_finalize();
    return finish();
}
