/* A plug-in: when it is loaded it adds a counter and a level to the tool interface, and counts each call of
 * `plugin_work`. */
#include <ferrum_tool.h>
#include <stdlib.h>

static uint64_t *done, *depth;

static uint64_t *add(const char *name, int class)
{
    /* The texts are this object's and are unloaded with it. */
    struct ferrum_tool_variable new = {.size = sizeof new, .name = name, .description = "Calls of the plug-in.",
                                       .unit = "calls", .category = "plugin.loaded",
                                       .category_description = "A plug-in that is loaded and unloaded.",
                                       .pvar_class = class, .datatype = MPI_UNSIGNED_LONG_LONG, .count = 1};
    uint64_t *words;
    if (ferrum_tool_add(&new, &words) != MPI_SUCCESS)
        exit(3);
    return words;
}

__attribute__((constructor)) static void begin(void)
{
    done = add("plugin_done", MPI_T_PVAR_CLASS_COUNTER);
    depth = add("plugin_depth", MPI_T_PVAR_CLASS_LEVEL);
}

void plugin_work(unsigned deep)
{
    *depth = deep;
    ++*done;
}
