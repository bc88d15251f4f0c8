/* The lists of a category store no more elements than the given room, a part of the list if it is short, and leave
 * the rest of the array unchanged. */
#include "tool/tool.h"

enum { ROOM = 2000, MARK = -77 };
typedef int (*lister)(int, int, int *);

static void lists(lister list, int category, int members)
{
    static int all[ROOM], some[ROOM];
    for (int room = 0; room <= members + 2 && room < ROOM; room = room < 3 ? room + 1 : room * 2) {
        for (int i = 0; i < ROOM; i++)
            all[i] = some[i] = MARK;
        ok(list(category, ROOM, all));
        ok(list(category, room, some));
        int stored = room < members ? room : members;
        for (int i = 0; i < members; i++)
            check(all[i] >= 0);
        check_equal(all[members], MARK);
        for (int i = 0; i < stored; i++) {
            int known = 0;
            for (int other = 0; other < members; other++)
                known |= some[i] == all[other];
            check(known);
        }
        check_equal(some[stored], MARK);
    }
    some[0] = MARK;
    check_equal(list(category, -1, some), MPI_T_ERR_INVALID);
    check_equal(some[0], MARK);
    ok(list(category, 0, NULL));
}

int main(int argc, char **argv)
{
    int number = 0;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_category_get_num(&number));
    check(number > 0);
    for (int i = 0; i < number; i++) {
        int cvars = 0, pvars = 0, categories = 0, events = 0;
        ok(MPI_T_category_get_info(i, NULL, NULL, NULL, NULL, &cvars, &pvars, &categories));
        lists(MPI_T_category_get_cvars, i, cvars);
        lists(MPI_T_category_get_pvars, i, pvars);
        lists(MPI_T_category_get_categories, i, categories);
        ok(MPI_T_category_get_num_events(i, &events));
        lists(MPI_T_category_get_events, i, events);
    }
    MPI_T_finalize();
    return finish();
}
