/* All information about variables, categories and enumerations is available before MPI_Init and is the same, by the
 * same indices, after it and after MPI_Finalize; a control variable set before MPI_Init keeps its value. */
#include "tool/tool.h"

enum { MOST = 1000, MEMBERS = 400, KINDS = 4 };

struct cvar_info {
    char name[256], description[1024];
    int verbosity, bind, scope;
    MPI_Datatype type;
    MPI_T_enum items;
};

struct category {
    char name[256], description[1024];
    int counts[KINDS], members[KINDS][MEMBERS];
};

static struct pvar_info pvars_before[MOST];
static struct cvar_info cvars_before[MOST];
static struct category categories_before[MOST];
static unsigned long long items_before;
static int pvars, cvars, categories, stamp;

static struct cvar_info cvar_info(int index)
{
    struct cvar_info info;
    int name_length = sizeof info.name, description_length = sizeof info.description;
    memset(&info, 0, sizeof info);
    ok(MPI_T_cvar_get_info(index, info.name, &name_length, &info.verbosity, &info.type, &info.items, info.description,
                           &description_length, &info.bind, &info.scope));
    return info;
}

static void category(int index, struct category *info)
{
    int name_length = sizeof info->name, description_length = sizeof info->description, *counts = info->counts;
    memset(info, 0, sizeof *info);
    ok(MPI_T_category_get_info(index, info->name, &name_length, info->description, &description_length, &counts[0],
                               &counts[1], &counts[2]));
    ok(MPI_T_category_get_num_events(index, &counts[3]));
    ok(MPI_T_category_get_cvars(index, MEMBERS, info->members[0]));
    ok(MPI_T_category_get_pvars(index, MEMBERS, info->members[1]));
    ok(MPI_T_category_get_categories(index, MEMBERS, info->members[2]));
    ok(MPI_T_category_get_events(index, MEMBERS, info->members[3]));
}

/* All names and values of the enumerations of control variables, in one number. */
static unsigned long long all_items(void)
{
    unsigned long long sum = 1469598103934665603u;
    for (int i = 0; i < cvars; i++) {
        MPI_T_enum items = cvar_info(i).items;
        int count = 0;
        if (items == MPI_T_ENUM_NULL)
            continue;
        ok(MPI_T_enum_get_info(items, &count, NULL, NULL));
        for (int item = 0; item < count; item++) {
            char name[256];
            int value, length = sizeof name;
            ok(MPI_T_enum_get_item(items, item, &value, name, &length));
            for (int c = 0; c < length; c++)
                sum = (sum ^ (unsigned char)name[c] ^ ((unsigned long long)value << 8)) * 1099511628211u;
        }
    }
    return sum;
}

static void remember(void)
{
    ok(MPI_T_pvar_get_num(&pvars));
    ok(MPI_T_cvar_get_num(&cvars));
    ok(MPI_T_category_get_num(&categories));
    ok(MPI_T_category_changed(&stamp));
    check(pvars > 0 && pvars <= MOST && cvars > 0 && cvars <= MOST && categories > 0 && categories <= MOST);
    for (int i = 0; i < pvars; i++)
        pvars_before[i] = pvar_info(i);
    for (int i = 0; i < cvars; i++)
        cvars_before[i] = cvar_info(i);
    for (int i = 0; i < categories; i++)
        category(i, &categories_before[i]);
    items_before = all_items();
}

static void same_as_before(void)
{
    int number = -1;
    ok(MPI_T_pvar_get_num(&number));
    check_equal(number, pvars);
    ok(MPI_T_cvar_get_num(&number));
    check_equal(number, cvars);
    ok(MPI_T_category_get_num(&number));
    check_equal(number, categories);
    ok(MPI_T_category_changed(&number));
    check_equal(number, stamp);
    for (int i = 0; i < pvars; i++) {
        struct pvar_info now = pvar_info(i);
        check(memcmp(&now, &pvars_before[i], sizeof now) == 0);
    }
    for (int i = 0; i < cvars; i++) {
        struct cvar_info now = cvar_info(i);
        check(memcmp(&now, &cvars_before[i], sizeof now) == 0);
    }
    for (int i = 0; i < categories; i++) {
        static struct category now;
        category(i, &now);
        check(memcmp(&now, &categories_before[i], sizeof now) == 0);
    }
    check(all_items() == items_before);
}

int main(int argc, char **argv)
{
    int index = -1, count = 0, total = 0;
    unsigned long long limit = 0, now = 0;
    MPI_T_cvar_handle handle;
    tool_begin();
    remember();
    same_as_before();
    ok(MPI_T_cvar_get_index("p2p_eager_limit", &index));
    ok(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    ok(MPI_T_cvar_read(handle, &limit));
    limit /= 2;
    ok(MPI_T_cvar_write(handle, &limit));
    begin(&argc, &argv);
    same_as_before();
    ok(MPI_T_cvar_read(handle, &now));
    check_equal(now, limit);
    MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    same_as_before();
    ok(MPI_T_cvar_read(handle, &now));
    check_equal(now, limit);
    ok(MPI_T_cvar_handle_free(&handle));
    ok(MPI_T_finalize());
    return verdict(total + wrong);
}
