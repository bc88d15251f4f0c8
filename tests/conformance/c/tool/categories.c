/* Categories form a hierarchy in which none contains itself. Their members exist, their counts agree with the lists,
 * and their names find them. Every variable and every event is in one. */
#include "tool.h"

enum { CATEGORIES = 2, KINDS = 4 };

static int (*const lists[KINDS])(int, int, int[]) = {MPI_T_category_get_cvars, MPI_T_category_get_pvars,
                                                     MPI_T_category_get_categories, MPI_T_category_get_events};

/* The depth of the categories below this one; more than `most` when one contains itself. */
static int depth(int category, int most)
{
    int count = 0, deepest = 0;
    ok(MPI_T_category_get_info(category, NULL, NULL, NULL, NULL, NULL, NULL, &count));
    int *below = malloc(sizeof(int) * ((size_t)count + 1));
    ok(MPI_T_category_get_categories(category, count, below));
    for (int i = 0; i < count && deepest <= most; i++) {
        int here = most > 0 ? depth(below[i], most - 1) : most + 1;
        deepest = here > deepest ? here : deepest;
    }
    free(below);
    return deepest + 1;
}

int main(int argc, char **argv)
{
    int number = 0, pvars, cvars, events, stamp = -1, again = -2, index;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_category_changed(&stamp));
    ok(MPI_T_category_get_num(&number));
    ok(MPI_T_pvar_get_num(&pvars));
    ok(MPI_T_cvar_get_num(&cvars));
    check(number > 0);
    ok(MPI_T_event_get_num(&events));
    int limits[KINDS] = {cvars, pvars, number, events};
    int *seen[KINDS];
    for (int kind = 0; kind < KINDS; kind++)
        seen[kind] = calloc((size_t)limits[kind] + 1, sizeof **seen);
    for (int i = 0; i < number; i++) {
        char name[256];
        int length = (int)sizeof name, counts[KINDS] = {-1, -1, -1, -1};
        ok(MPI_T_category_get_info(i, name, &length, NULL, NULL, &counts[0], &counts[1], &counts[CATEGORIES]));
        ok(MPI_T_category_get_num_events(i, &counts[3]));
        ok(MPI_T_category_get_index(name, &index));
        check_equal(index, i);
        for (int kind = 0; kind < KINDS; kind++) {
            int *members = malloc(sizeof(int) * ((size_t)counts[kind] + 1));
            for (int m = 0; m <= counts[kind]; m++)
                members[m] = -99;
            ok(lists[kind](i, counts[kind], members));
            check_equal(members[counts[kind]], -99);
            for (int m = 0; m < counts[kind]; m++) {
                int inside = members[m] >= 0 && members[m] < limits[kind];
                check(inside);
                if (inside)
                    seen[kind][members[m]]++;
            }
            free(members);
        }
        check(depth(i, number) <= number);
    }
    for (int kind = 0; kind < KINDS; kind++) {
        for (int i = 0; i < limits[kind] && kind != CATEGORIES; i++)
            check(seen[kind][i] >= 1);
        free(seen[kind]);
    }
    ok(MPI_T_category_changed(&again));
    check_equal(stamp, again);
    check_equal(MPI_T_category_get_index("no such category", &index), MPI_T_ERR_INVALID_NAME);
    check_equal(MPI_T_category_get_cvars(number, 1, &index), MPI_T_ERR_INVALID_INDEX);
    MPI_T_finalize();
    return finish();
}
