/* The information about every variable, enumeration and category has the values that the standard lists: types,
 * levels, scopes, bindings, enumerations of integers only, unique names, descriptions. */
#include "tool/tool.h"

enum { MOST = 4000 };
static char *names[MOST];
static int used;

/* Whether the name differs from all earlier ones of its kind. */
static int fresh(const char *kind, int class, const char *name)
{
    char text[600];
    snprintf(text, sizeof text, "%s %d %s", kind, class, name);
    for (int i = 0; i < used; i++)
        if (strcmp(names[i], text) == 0)
            return 0;
    if (used < MOST)
        names[used++] = strdup(text);
    return 1;
}

static int is_listed(MPI_Datatype type)
{
    return type == MPI_INT || type == MPI_UNSIGNED || type == MPI_UNSIGNED_LONG || type == MPI_UNSIGNED_LONG_LONG ||
           type == MPI_COUNT || type == MPI_CHAR || type == MPI_DOUBLE;
}

static int is_level(int verbosity)
{
    static const int levels[] = {9, 10, 12, 17, 18, 20, 33, 34, 36};
    for (int i = 0; i < 9; i++)
        if (levels[i] == verbosity)
            return 1;
    return 0;
}

static void enumeration(MPI_T_enum items, MPI_Datatype type)
{
    static MPI_T_enum seen[200];
    static int number_seen;
    char name[256], item[256];
    int count = 0, value, length = sizeof name;
    if (type != MPI_INT)
        check(items == MPI_T_ENUM_NULL);
    if (items == MPI_T_ENUM_NULL)
        return;
    for (int i = 0; i < number_seen; i++)
        if (seen[i] == items)
            return;
    if (number_seen < 200)
        seen[number_seen++] = items;
    ok(MPI_T_enum_get_info(items, &count, name, &length));
    check(count > 0 && name[0] != 0);
    check(fresh("enumeration", 0, name));
    for (int i = 0; i < count; i++) {
        length = sizeof item;
        ok(MPI_T_enum_get_item(items, i, &value, item, &length));
        check(item[0] != 0 && fresh(name, 1, item));
    }
}

static void pvars(void)
{
    int number = 0;
    ok(MPI_T_pvar_get_num(&number));
    for (int i = 0; i < number; i++) {
        struct pvar_info info = pvar_info(i);
        int before = wrong, size_of_type = 0;
        check(info.name[0] != 0 && fresh("pvar", info.class, info.name));
        check(is_listed(info.type) && is_level(info.verbosity));
        check(info.bind >= MPI_T_BIND_NO_OBJECT && info.bind <= MPI_T_BIND_MPI_SESSION);
        if (strcmp(info.name, "MPI_T_UMQ_LENGTH") == 0)
            check(info.verbosity == MPI_T_VERBOSITY_USER_BASIC && info.bind == MPI_T_BIND_MPI_COMM);
        enumeration(info.items, info.type);
        if (info.class == MPI_T_PVAR_CLASS_COUNTER || info.class == MPI_T_PVAR_CLASS_AGGREGATE) {
            /* Wide enough not to overflow. */
            ok(MPI_Type_size(info.type, &size_of_type));
            check_equal(size_of_type, 8);
        }
        if (info.class == MPI_T_PVAR_CLASS_STATE)
            check(info.items != MPI_T_ENUM_NULL);
        /* The description names the unit of a time; where it is MPI_DOUBLE, it is that of MPI_Wtime. */
        if (info.class == MPI_T_PVAR_CLASS_TIMER) {
            check(strstr(info.description, "seconds") != NULL);
            if (info.type == MPI_DOUBLE)
                check(strstr(info.description, "nanoseconds") == NULL &&
                      strstr(info.description, "microseconds") == NULL);
        }
        check(strlen(info.description) > 10);
        if (wrong > before)
            fprintf(stderr, "... for %s\n", info.name);
    }
}

static void cvars(void)
{
    int number = 0;
    ok(MPI_T_cvar_get_num(&number));
    for (int i = 0; i < number; i++) {
        char name[256], text[1024];
        int name_length = sizeof name, text_length = sizeof text, verbosity, bind, scope, before = wrong;
        MPI_Datatype type;
        MPI_T_enum items;
        ok(MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &items, text, &text_length, &bind, &scope));
        check(name[0] != 0 && fresh("cvar", 0, name));
        check(is_listed(type) && is_level(verbosity));
        check(bind >= MPI_T_BIND_NO_OBJECT && bind <= MPI_T_BIND_MPI_SESSION);
        check(scope >= MPI_T_SCOPE_CONSTANT && scope <= MPI_T_SCOPE_ALL_EQ);
        if (strcmp(name, "p2p_eager_limit") == 0)
            check(verbosity == MPI_T_VERBOSITY_TUNER_BASIC && bind == MPI_T_BIND_NO_OBJECT &&
                  scope == MPI_T_SCOPE_LOCAL);
        enumeration(items, type);
        check(strlen(text) > 10);
        /* The description of a variable that must be set in several processes states it. */
        if (scope >= MPI_T_SCOPE_GROUP)
            check(strstr(text, "process") != NULL || strstr(text, "rank") != NULL);
        if (wrong > before)
            fprintf(stderr, "... for %s\n", name);
    }
}

static void categories(void)
{
    int number = 0;
    ok(MPI_T_category_get_num(&number));
    for (int i = 0; i < number; i++) {
        char name[256], text[1024];
        int name_length = sizeof name, text_length = sizeof text;
        ok(MPI_T_category_get_info(i, name, &name_length, text, &text_length, NULL, NULL, NULL));
        check(name[0] != 0 && fresh("category", 0, name));
        check_equal(text_length, strlen(text) + 1);
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    tool_begin();
    pvars();
    cvars();
    categories();
    MPI_T_finalize();
    return finish();
}
