/* A plug-in: a small cache whose counters tools can read and whose size they can set. A complete example of
 * ferrum_tool.h:
 *
 *   mpicc -shared -fPIC cache.c -o libcache.so
 *   mpicc cache_program.c -L. -lcache -Wl,-rpath,'$ORIGIN' -o cache_program
 *   mpiexec -n 2 --cvar cache_entries=4 --cvar stats_at_end=all ./cache_program
 *
 * The last line sets the plug-in's variable and prints a table with the others. With another MPI library, or none, the
 * cache works the same, without variables.
 */
#include <ferrum_tool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Absent from other libraries. */
extern __typeof__(ferrum_tool_add) ferrum_tool_add __attribute__((weak));
extern __typeof__(ferrum_tool_error) ferrum_tool_error __attribute__((weak));

enum { MOST_ENTRIES = 64 };
static struct {
    int key, used;
    double value;
} entries[MOST_ENTRIES];

/* Used in place of the library's words if a variable cannot be added, so that the code that counts has no branch for
 * it. */
static uint64_t own[5] = {0, 0, 0, 0, 16};
static uint64_t *hits = &own[0], *misses = &own[1], *filled = &own[2], *computing = &own[3], *limit = &own[4];

static void add(struct ferrum_tool_variable variable, uint64_t **words)
{
    variable.size = sizeof variable;
    variable.category = "cache";
    variable.category_description = "The cache of computed values.";
    if (ferrum_tool_add && ferrum_tool_add(&variable, words) != MPI_SUCCESS)
        fprintf(stderr, "cache: tools will not see %s: %s\n", variable.name, ferrum_tool_error());
}

/* Runs when the object is loaded. */
__attribute__((constructor)) static void begin(void)
{
    add((struct ferrum_tool_variable){.name = "cache_hits", .description = "Values that were there.", .unit = "values",
                                      .pvar_class = MPI_T_PVAR_CLASS_COUNTER, .datatype = MPI_UNSIGNED_LONG_LONG},
        &hits);
    add((struct ferrum_tool_variable){.name = "cache_misses", .description = "Values that had to be computed.",
                                      .unit = "values", .pvar_class = MPI_T_PVAR_CLASS_COUNTER,
                                      .datatype = MPI_UNSIGNED_LONG_LONG},
        &misses);
    add((struct ferrum_tool_variable){.name = "cache_filled", .description = "Entries in use.", .unit = "entries",
                                      .pvar_class = MPI_T_PVAR_CLASS_LEVEL, .datatype = MPI_UNSIGNED},
        &filled);
    add((struct ferrum_tool_variable){.name = "cache_time_computing", .description = "Time spent computing values.",
                                      .unit = "seconds", .pvar_class = MPI_T_PVAR_CLASS_TIMER, .datatype = MPI_DOUBLE},
        &computing);
    add((struct ferrum_tool_variable){.name = "cache_entries",
                                      .description = "Entries that the next new value may choose from.",
                                      .unit = "entries", .scope = MPI_T_SCOPE_LOCAL, .datatype = MPI_INT, .initial = 16,
                                      .least = 1, .most = MOST_ENTRIES},
        &limit);
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static double compute(int key)
{
    double sum = 0;
    for (int i = 1; i < 10000; i++)
        sum += 1.0 / ((double)key + i);
    return sum;
}

/* The value for a key, which is not negative. For one thread at a time. */
double cache_get(int key)
{
    /* A tool may set it at any time, so it is loaded once. */
    unsigned place = (unsigned)key % (unsigned)*limit;
    if (entries[place].used && entries[place].key == key) {
        ++*hits;
        return entries[place].value;
    }
    uint64_t start = now();
    double value = compute(key);
    *computing += now() - start;
    ++*misses;
    *filled += !entries[place].used;
    entries[place].key = key;
    entries[place].used = 1;
    return entries[place].value = value;
}
