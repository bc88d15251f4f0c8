/* What a shared object adds through ferrum_tool.h appears to tools: numbers and the stamp grow, names are found, values are read
 * and set, the environment (FERRUM_PLUGIN_LIMIT=7) included. */
#include "tool.h"
#include <ferrum_tool.h>

static struct ferrum_tool_variable variable(const char *name, int class, MPI_Datatype type, int count)
{
    struct ferrum_tool_variable new = {.size = sizeof new, .name = name, .description = "What a plug-in counts.",
                                       .unit = "things", .category = "plugin.inside", .category_description = "A plug-in.",
                                       .pvar_class = class, .scope = MPI_T_SCOPE_LOCAL, .datatype = type, .count = count};
    return new;
}

int main(int argc, char **argv)
{
    uint64_t *things = NULL, *time = NULL, *limit = NULL, *none = NULL;
    int before, after, old_stamp, new_stamp, index, count, value = 0;
    struct ferrum_tool_variable new = variable("plugin_things", MPI_T_PVAR_CLASS_COUNTER, MPI_UNSIGNED_LONG_LONG, 1), bad;
    MPI_T_pvar_session session;
    MPI_T_cvar_handle cvar;
    /* Before the interface is initialized, as a constructor of a shared object would. */
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

    uint64_t *room = NULL, told = 0;
    new = variable("plugin_room", MPI_T_PVAR_CLASS_SIZE, MPI_UNSIGNED_LONG_LONG, 1);
    ok(ferrum_tool_add(&new, &room));
    ok(MPI_T_pvar_handle_alloc(session, find_pvar("plugin_room", MPI_T_PVAR_CLASS_SIZE), NULL, &handle, &count));
    *room = 9;
    ok(MPI_T_pvar_start(session, handle));
    ok(MPI_T_pvar_read(session, handle, &told));
    check_equal((int)told, 9);

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

    check_class(ferrum_tool_add(&new, &none), MPI_T_ERR_INVALID_NAME);
    check_class(ferrum_tool_add(NULL, &none), MPI_T_ERR_INVALID);
    check_class(ferrum_tool_add(&new, NULL), MPI_T_ERR_INVALID);
    bad = variable(NULL, MPI_T_PVAR_CLASS_COUNTER, MPI_UNSIGNED, 1);
    check_class(ferrum_tool_add(&bad, &none), MPI_T_ERR_INVALID_NAME);
    bad = variable("plugin_bad", MPI_T_PVAR_CLASS_COUNTER, MPI_DOUBLE, 1);
    check_class(ferrum_tool_add(&bad, &none), MPI_T_ERR_INVALID);
    bad = variable("plugin_bad", MPI_T_PVAR_CLASS_COUNTER, MPI_UNSIGNED, -1);
    check_class(ferrum_tool_add(&bad, &none), MPI_T_ERR_INVALID);
    bad = variable("plugin_bad", 99, MPI_UNSIGNED, 1);
    check_class(ferrum_tool_add(&bad, &none), MPI_T_ERR_INVALID);
    bad = variable("plugin_bad", MPI_T_PVAR_CLASS_COUNTER, MPI_FLOAT, 1);
    check_class(ferrum_tool_add(&bad, &none), MPI_T_ERR_INVALID);
    bad.size = 8;
    check_class(ferrum_tool_add(&bad, &none), MPI_T_ERR_INVALID);
    check(none == NULL);
    ok(MPI_T_pvar_session_free(&session));
    ok(MPI_T_finalize());
    return finish();
}
