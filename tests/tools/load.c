/* Loads the plug-in named by the argument while a tool runs: its variables have the next indices, with their names
 * and category, and the stamp changes; their values are read as they change; and they remain, with names,
 * descriptions and last values, when the plug-in is unloaded. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int wrong;

#define check(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition);                                            \
            wrong++;                                                                                                   \
        }                                                                                                              \
    } while (0)

#define ok(call) check((call) == MPI_SUCCESS)

static MPI_T_pvar_session session;

static MPI_T_pvar_handle watch(int index)
{
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int count = -1;
    ok(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
    check(count == 1);
    ok(MPI_T_pvar_start(session, handle));
    return handle;
}

static unsigned long long value_of(MPI_T_pvar_handle handle)
{
    unsigned long long value = ~0ull;
    ok(MPI_T_pvar_read(session, handle, &value));
    return value;
}

int main(int argc, char **argv)
{
    int provided, before, after, done = -1, depth = -1, category = -1, members = -1, stamp, moved, length;
    char text[256];
    MPI_Init(&argc, &argv);
    ok(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    ok(MPI_T_pvar_session_create(&session));
    ok(MPI_T_pvar_get_num(&before));
    ok(MPI_T_category_changed(&stamp));
    check(MPI_T_pvar_get_index("plugin_done", MPI_T_PVAR_CLASS_COUNTER, &done) == MPI_T_ERR_INVALID_NAME);

    void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!plugin) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    void (*work)(unsigned) = (void (*)(unsigned))dlsym(plugin, "plugin_work");
    ok(MPI_T_pvar_get_num(&after));
    ok(MPI_T_category_changed(&moved));
    check(after == before + 2 && moved != stamp);
    ok(MPI_T_pvar_get_index("plugin_done", MPI_T_PVAR_CLASS_COUNTER, &done));
    ok(MPI_T_pvar_get_index("plugin_depth", MPI_T_PVAR_CLASS_LEVEL, &depth));
    check(done == before && depth == before + 1);
    MPI_T_pvar_handle of_done = watch(done), of_depth = watch(depth);
    for (unsigned i = 1; i <= 5; i++) {
        work(10 * i);
        check(value_of(of_done) == i && value_of(of_depth) == 10 * i);
    }

    check(dlclose(plugin) == 0);
    check(dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) == NULL);
    check(value_of(of_done) == 5 && value_of(of_depth) == 50);
    check(value_of(watch(depth)) == 50);
    length = sizeof text;
    ok(MPI_T_pvar_get_info(done, text, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    check(strcmp(text, "plugin_done") == 0);
    length = sizeof text;
    ok(MPI_T_pvar_get_info(done, NULL, NULL, NULL, NULL, NULL, NULL, text, &length, NULL, NULL, NULL, NULL));
    check(strstr(text, "Calls of the plug-in.") == text);
    ok(MPI_T_category_get_index("plugin.loaded", &category));
    ok(MPI_T_category_get_info(category, NULL, NULL, NULL, NULL, NULL, &members, NULL));
    check(members == 2);
    ok(MPI_T_pvar_session_free(&session));
    ok(MPI_T_finalize());
    MPI_Finalize();
    if (wrong == 0)
        printf("No Errors\n");
    return wrong != 0;
}
