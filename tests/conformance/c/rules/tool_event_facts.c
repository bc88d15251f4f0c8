/* Types and sources of events: unique names, the same index and properties before MPI_Init, between MPI_Init and
 * MPI_Finalize, and after; clocks that do not go back; every type in the list of some category. */
#include "tool/tool.h"

enum { MOST = 500 };
static char names[MOST][128], source_names[MOST][128];
static int types, sources;

static void remember(void)
{
    ok(MPI_T_event_get_num(&types));
    ok(MPI_T_source_get_num(&sources));
    check(types > 0 && types <= MOST && sources > 0 && sources <= MOST);
    for (int i = 0; i < types && i < MOST; i++) {
        int length = sizeof names[i];
        ok(MPI_T_event_get_info(i, names[i], &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        check(names[i][0] != 0);
        for (int other = 0; other < i; other++)
            check(strcmp(names[i], names[other]) != 0);
    }
    for (int i = 0; i < sources && i < MOST; i++) {
        int length = sizeof source_names[i];
        ok(MPI_T_source_get_info(i, source_names[i], &length, NULL, NULL, NULL, NULL, NULL, NULL));
        check(source_names[i][0] != 0);
        for (int other = 0; other < i; other++)
            check(strcmp(source_names[i], source_names[other]) != 0);
    }
}

static void same_as_before(void)
{
    int number = 0;
    ok(MPI_T_event_get_num(&number));
    check(number >= types);
    for (int i = 0; i < types; i++) {
        char name[128];
        int length = sizeof name, index = -1;
        ok(MPI_T_event_get_info(i, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        check(strcmp(name, names[i]) == 0);
        ok(MPI_T_event_get_index(name, &index));
        check_equal(index, i);
    }
    ok(MPI_T_source_get_num(&number));
    check(number >= sources);
    for (int i = 0; i < sources; i++) {
        char name[128];
        int length = sizeof name;
        MPI_Count last = -1;
        ok(MPI_T_source_get_info(i, name, &length, NULL, NULL, NULL, NULL, NULL, NULL));
        check(strcmp(name, source_names[i]) == 0);
        for (int look = 0; look < 1000; look++) {
            MPI_Count now = -1;
            ok(MPI_T_source_get_timestamp(i, &now));
            check(now >= last);
            last = now;
        }
    }
}

static void categories(void)
{
    static int found[MOST], members[MOST];
    int number = 0;
    ok(MPI_T_category_get_num(&number));
    for (int i = 0; i < number; i++) {
        int count = -1;
        ok(MPI_T_category_get_num_events(i, &count));
        check(count >= 0 && count <= MOST);
        ok(MPI_T_category_get_events(i, count, members));
        for (int place = 0; place < count; place++) {
            check(members[place] >= 0 && members[place] < types);
            found[members[place]]++;
        }
    }
    for (int i = 0; i < types; i++)
        check(found[i] > 0);
}

int main(int argc, char **argv)
{
    tool_begin();
    remember();
    begin(&argc, &argv);
    same_as_before();
    categories();
    int total = 0;
    MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    same_as_before();
    ok(MPI_T_finalize());
    return verdict(total + wrong);
}
