/* Variables that a shared object adds through ferrum_tool.h: the numbers and the stamp grow, names are found, values
 * are read and set, also from the environment (FERRUM_PLUGIN_LIMIT=7). */
#include "tool.h"
#include <ferrum_tool.h>

static struct ferrum_tool_variable variable(const char *name, int class, MPI_Datatype type, int count)
{
    struct ferrum_tool_variable new = {.size = sizeof new, .name = name, .description = "What a plug-in counts.",
                                       .unit = "things", .category = "plugin.inside",
                                       .category_description = "A plug-in.", .pvar_class = class,
                                       .scope = MPI_T_SCOPE_LOCAL, .datatype = type, .count = count};
    return new;
}

/* The call is refused with this code and a text that begins with this one; nothing is stored. */
static void refused(struct ferrum_tool_variable bad, const char *why, int class)
{
    uint64_t *none = NULL;
    check_class(ferrum_tool_add(&bad, &none), class);
    check(none == NULL);
    const char *call = "ferrum_tool_add: ", *reason = ferrum_tool_error();
    if (strncmp(reason, call, strlen(call)) != 0 || strncmp(reason + strlen(call), why, strlen(why)) != 0) {
        fprintf(stderr, "%s: %s\n", why, ferrum_tool_error());
        check(0);
    }
}

/* A variable without a description has an empty string for it, whose length is 1. */
static void without_descriptions(void)
{
    uint64_t *words = NULL;
    char text[8] = "xxxxxxx";
    int length = sizeof text, index;
    struct ferrum_tool_variable pvar = variable("plugin_bare", MPI_T_PVAR_CLASS_LEVEL, MPI_UNSIGNED, 1),
                                cvar = variable("plugin_bare", 0, MPI_INT, 1);
    pvar.description = pvar.unit = pvar.category_description = "";
    cvar.description = cvar.unit = cvar.category_description = "";
    pvar.category = cvar.category = "plugin.bare";
    cvar.most = 1;
    ok(ferrum_tool_add(&pvar, &words));
    ok(ferrum_tool_add(&cvar, &words));
    index = find_pvar("plugin_bare", MPI_T_PVAR_CLASS_LEVEL);
    ok(MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, text, &length, NULL, NULL, NULL, NULL));
    check(text[0] == 0 && text[1] == 'x' && length == 1);
    ok(MPI_T_cvar_get_index("plugin_bare", &index));
    length = sizeof text, text[0] = 'x';
    ok(MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, NULL, text, &length, NULL, NULL));
    check(text[0] == 0 && text[1] == 'x' && length == 1);
    ok(MPI_T_category_get_index("plugin.bare", &index));
    length = sizeof text, text[0] = 'x';
    ok(MPI_T_category_get_info(index, NULL, NULL, text, &length, NULL, NULL, NULL));
    check(text[0] == 0 && text[1] == 'x' && length == 1);
}

/* A count of 0, the value of a field that is not set, means 1. */
static void without_counts(MPI_T_pvar_session session)
{
    uint64_t *word = NULL;
    int index, count = -1;
    struct ferrum_tool_variable pvar = variable("plugin_countless", MPI_T_PVAR_CLASS_COUNTER, MPI_UNSIGNED, 0),
                                cvar = variable("plugin_countless", 0, MPI_INT, 0);
    MPI_T_pvar_handle handle;
    MPI_T_cvar_handle setting;
    ok(ferrum_tool_add(&pvar, &word));
    check(word != NULL);
    index = find_pvar("plugin_countless", MPI_T_PVAR_CLASS_COUNTER);
    ok(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
    check_equal(count, 1);
    ok(MPI_T_pvar_handle_free(session, &handle));
    ok(ferrum_tool_add(&cvar, &word));
    ok(MPI_T_cvar_get_index("plugin_countless", &index));
    ok(MPI_T_cvar_handle_alloc(index, NULL, &setting, &count));
    check_equal(count, 1);
    ok(MPI_T_cvar_handle_free(&setting));
}

int main(int argc, char **argv)
{
    uint64_t *things = NULL, *time = NULL, *limit = NULL, *none = NULL;
    int before, after, old_stamp, new_stamp, index, count, value = 0;
    struct ferrum_tool_variable new = variable("plugin_things", MPI_T_PVAR_CLASS_COUNTER, MPI_UNSIGNED_LONG_LONG, 1);
    struct ferrum_tool_variable bad;
    MPI_T_pvar_session session;
    MPI_T_cvar_handle cvar;
    /* Before the interface is initialized, as in a constructor of a shared object. */
    ok(ferrum_tool_add(&new, &things));
    tool_begin();
    ok(MPI_T_pvar_get_num(&before));
    ok(MPI_T_category_changed(&old_stamp));
    MPI_Init(&argc, &argv);
    identify();
    ok(MPI_T_pvar_session_create(&session));
    MPI_T_pvar_handle handle = watch(session, "plugin_things", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    __atomic_fetch_add(things, 5, __ATOMIC_RELAXED);
    check_equal(read_pvar(session, handle), 5);
    check_equal(strcmp(pvar_info(find_pvar("plugin_things", MPI_T_PVAR_CLASS_COUNTER)).description,
                       "What a plug-in counts. Unit: things."), 0);

    new = variable("plugin_time", MPI_T_PVAR_CLASS_TIMER, MPI_DOUBLE, 3);
    ok(ferrum_tool_add(&new, &time));
    ok(MPI_T_pvar_get_num(&after));
    ok(MPI_T_category_changed(&new_stamp));
    check(after == before + 1 && new_stamp != old_stamp);
    double seconds[3];
    ok(MPI_T_pvar_handle_alloc(session, find_pvar("plugin_time", MPI_T_PVAR_CLASS_TIMER), NULL, &handle, &count));
    check_equal(count, 3);
    ok(MPI_T_pvar_start(session, handle));
    time[2] = 1500000000;
    ok(MPI_T_pvar_read(session, handle, seconds));
    check(seconds[0] == 0 && seconds[2] == 1.5);

    uint64_t *room = NULL, added = 0;
    new = variable("plugin_room", MPI_T_PVAR_CLASS_SIZE, MPI_UNSIGNED_LONG_LONG, 1);
    ok(ferrum_tool_add(&new, &room));
    ok(MPI_T_pvar_handle_alloc(session, find_pvar("plugin_room", MPI_T_PVAR_CLASS_SIZE), NULL, &handle, &count));
    *room = 9;
    ok(MPI_T_pvar_start(session, handle));
    ok(MPI_T_pvar_read(session, handle, &added));
    check_equal((int)added, 9);

    new = variable("plugin_limit", 0, MPI_INT, 1);
    new.initial = 3, new.least = 1, new.most = 9;
    ok(ferrum_tool_add(&new, &limit));
    check_equal((int)*limit, 7);
    ok(MPI_T_cvar_get_index("plugin_limit", &index));
    ok(MPI_T_cvar_handle_alloc(index, NULL, &cvar, &count));
    value = 4;
    ok(MPI_T_cvar_write(cvar, &value));
    check_equal((int)*limit, 4);
    value = 10;
    check_class(MPI_T_cvar_write(cvar, &value), MPI_T_ERR_INVALID);
    ok(MPI_T_category_get_index("plugin.inside", &index));
    ok(MPI_T_category_get_info(index, NULL, NULL, NULL, NULL, &count, &value, NULL));
    check(count == 1 && value == 3);

    without_descriptions();
    without_counts(session);
    check(strcmp(ferrum_tool_error(), "") == 0);
    refused(new, "name is \"plugin_limit\", which another control variable has", MPI_T_ERR_INVALID_NAME);
    check_class(ferrum_tool_add(NULL, &none), MPI_T_ERR_INVALID);
    check(strcmp(ferrum_tool_error(), "ferrum_tool_add: variable is NULL") == 0);
    check_class(ferrum_tool_add(&new, NULL), MPI_T_ERR_INVALID);
    check(strcmp(ferrum_tool_error(), "ferrum_tool_add: words is NULL") == 0);
    refused(variable(NULL, MPI_T_PVAR_CLASS_COUNTER, MPI_UNSIGNED, 1), "name is empty", MPI_T_ERR_INVALID_NAME);
    refused(variable("Odd Name", MPI_T_PVAR_CLASS_COUNTER, MPI_UNSIGNED, 1), "name is \"Odd Name\", but has to be of",
            MPI_T_ERR_INVALID_NAME);
    refused(variable("a=b", 0, MPI_INT, 1), "name is \"a=b\", but has to be of", MPI_T_ERR_INVALID_NAME);
    refused(variable("plugin_things", MPI_T_PVAR_CLASS_COUNTER, MPI_UNSIGNED, 1),
            "name is \"plugin_things\", which another variable of MPI_T_PVAR_CLASS_COUNTER has",
            MPI_T_ERR_INVALID_NAME);
    refused(variable("bad", MPI_T_PVAR_CLASS_COUNTER, MPI_DOUBLE, 1), "datatype of \"bad\" is MPI_DOUBLE, but",
            MPI_T_ERR_INVALID);
    refused(variable("bad", MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_UNSIGNED, 1),
            "pvar_class of \"bad\" is MPI_T_PVAR_CLASS_HIGHWATERMARK, but", MPI_T_ERR_INVALID);
    refused(variable("bad", MPI_T_PVAR_CLASS_COUNTER, MPI_UNSIGNED, -1), "count of \"bad\" is -1, but",
            MPI_T_ERR_INVALID);
    refused(variable("bad", 99, MPI_UNSIGNED, 1), "pvar_class of \"bad\" is 99, but", MPI_T_ERR_INVALID);
    refused(variable("bad", MPI_T_PVAR_CLASS_COUNTER, MPI_FLOAT, 1), "datatype of \"bad\" is 0x", MPI_T_ERR_INVALID);
    bad = variable("bad", MPI_T_PVAR_CLASS_COUNTER, MPI_UNSIGNED, 1);
    bad.category = NULL;
    refused(bad, "category of \"bad\" is \"\", but", MPI_T_ERR_INVALID);
    bad.unit = "\xff";
    refused(bad, "unit is \"\\xff\", which is not UTF-8", MPI_T_ERR_INVALID);
    bad.size = 8;
    refused(bad, "size is 8, but", MPI_T_ERR_INVALID);
    bad = variable("bad", 0, MPI_INT, 2);
    refused(bad, "count of \"bad\" is 2, but", MPI_T_ERR_INVALID);
    bad.count = 1, bad.least = 5, bad.most = 2;
    refused(bad, "least of \"bad\" is 5, but most is 2", MPI_T_ERR_INVALID);
    bad.most = 9;
    refused(bad, "initial of \"bad\" is 0, but has to be from 5 to 9", MPI_T_ERR_INVALID);
    bad.initial = 5.5;
    refused(bad, "initial of \"bad\" is 5.5, but MPI_INT takes whole numbers", MPI_T_ERR_INVALID);
    bad.initial = 3e9, bad.least = 3e9, bad.most = 4e9;
    refused(bad, "least of \"bad\" is 3000000000, but MPI_INT takes -2147483648 to 2147483647", MPI_T_ERR_INVALID);
    bad.initial = 5, bad.least = 5;
    refused(bad, "most of \"bad\" is 4000000000, but MPI_INT takes -2147483648 to 2147483647", MPI_T_ERR_INVALID);
    bad.datatype = MPI_UNSIGNED_LONG_LONG, bad.least = -1, bad.most = (double)UINT64_MAX;
    refused(bad, "least of \"bad\" is -1, but MPI_UNSIGNED_LONG_LONG takes 0 to 18446744073709551615",
            MPI_T_ERR_INVALID);
    bad.least = 6;
    refused(bad, "initial of \"bad\" is 5, but has to be from 6 to 18446744073709551615", MPI_T_ERR_INVALID);
    bad.scope = 99;
    refused(bad, "scope of \"bad\" is 99, but", MPI_T_ERR_INVALID);
    check(none == NULL);
    ok(MPI_T_pvar_session_free(&session));
    ok(MPI_T_finalize());
    return finish();
}
