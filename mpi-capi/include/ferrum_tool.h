/* An extension of Ferrum MPI: a shared object, or a program, adds its own variables to the tool information interface.
 * For tools they are like all other variables: the number of variables grows, names can be looked up, the stamp of
 * MPI_T_category_changed changes; the table of stats_at_end includes them, except arrays. examples/tools/cache.c is a
 * complete plug-in.
 *
 * Building and loading. Nothing but this header and mpi.h is needed:
 *     mpicc -shared -fPIC plugin.c -o libplugin.so
 * A program can be linked with it (mpicc program.c -L. -lplugin), load it (dlopen), or be started with it in
 * LD_PRELOAD; a plug-in adds its variables in a function with __attribute__((constructor)), which runs in
 * each of these cases. One that must also work with other MPI libraries, or without any, declares the functions weak
 * and checks whether they exist:
 *     extern __typeof__(ferrum_tool_add) ferrum_tool_add __attribute__((weak));
 *     if (ferrum_tool_add) ...
 *
 * Calls. At any time, also before MPI_Init and after MPI_Finalize; by any thread, several at once; not in a signal
 * handler.
 *
 * Lifetimes. The struct and its texts are copied; the caller may free them after the call. A variable and its words
 * exist until the process ends. If a plug-in is unloaded, its variables keep their values. If it is loaded again, its
 * names are taken; a plug-in that must continue to count is linked with -Wl,-z,nodelete, or loaded with RTLD_NODELETE.
 *
 * A performance variable's words are zero at first. Write them with aligned stores of 64 bits, one thread at a time, or
 * with __atomic_fetch_add by several; tools read them at any time. A word is a whole number, also where the type is
 * MPI_DOUBLE; nanoseconds for MPI_T_PVAR_CLASS_TIMER (read as seconds when the type is MPI_DOUBLE); parts of 2^32 for
 * MPI_T_PVAR_CLASS_PERCENTAGE. Types: MPI_INT for STATE, MPI_DOUBLE for PERCENTAGE, MPI_UNSIGNED and
 * MPI_UNSIGNED_LONG_LONG for COUNTER, these two and MPI_DOUBLE for LEVEL, SIZE, AGGREGATE and TIMER, all four for
 * GENERIC. Watermarks cannot be added. Tools can start and stop each variable.
 *
 * A control variable's word has its value in its low bytes, in the format of the type (a double takes all eight); read
 * it with a load of 64 bits. Tools set it by MPI_T_cvar_write within its limits. As for all control variables, its
 * first value may come from mpiexec --cvar, from FERRUM_ and the name in capitals, or from a settings file; if that
 * value is out of the limits, a warning is printed and the plug-in's own value is used. */
#ifndef FERRUM_TOOL_EXTENSION_H
#define FERRUM_TOOL_EXTENSION_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A variable. Fields that the initializer omits are 0, so set the others by name: {.size = sizeof new, .name = ...}. */
struct ferrum_tool_variable {
    size_t size;                      /* sizeof(struct ferrum_tool_variable) */
    const char *name;                 /* <subsystem>_<what is counted>, lower case; required */
    const char *description;          /* what it counts, and when it changes; NULL: none */
    const char *unit;                 /* NULL: none */
    const char *category;             /* a dotted path, such as "solver.cache"; required, made if it is new */
    const char *category_description; /* for a category that is new; NULL: none */
    int pvar_class;                   /* MPI_T_PVAR_CLASS_*; 0: a control variable */
    int scope;                        /* of a control variable: MPI_T_SCOPE_*; else ignored */
    MPI_Datatype datatype;            /* MPI_INT, MPI_UNSIGNED, MPI_UNSIGNED_LONG_LONG, MPI_DOUBLE */
    int count;                        /* elements of a performance variable, at most 1048576; 0, or left out, is 1 */
    double initial, least, most;      /* of a control variable: its first value; limits (both 0: the type's) */
};

/* Adds a variable and stores the address of its first word in *words, which is left as it is on errors. MPI_SUCCESS;
 * MPI_T_ERR_INVALID for what cannot be or does not go together; MPI_T_ERR_INVALID_NAME for a name that has other
 * characters than letters, digits and _, that does not begin with a letter, or that another control variable, or
 * performance variable of the class, has; MPI_T_ERR_MEMORY; MPI_T_ERR_NOT_INITIALIZED where the library cannot work, as
 * under a launcher whose facts it cannot use. No error handler is called. */
int ferrum_tool_add(const struct ferrum_tool_variable *variable, uint64_t **words);

/* Why this thread's last failed call failed, of ferrum_tool_add and all functions of MPI_T: the function, then one
 * sentence that names the argument or the field, its value, and what is allowed. For example
 *     MPI_T_pvar_get_info: argument pvar_index is -1, but there are 317 performance variables, with indices 0 to 316
 * It is empty while no call has failed, and after a ferrum_tool_add that succeeded; other calls that succeed leave it
 * as it is. The text stays at its address until the thread ends, and changes when a call of the thread fails.
 * Async-signal-safe and thread-safe. With the control variable error_verbosity=full each such sentence is printed when
 * the call fails, too. */
const char *ferrum_tool_error(void);

#ifdef __cplusplus
}
#endif

#endif
