/* An extension of Ferrum MPI: a shared object, or a program, adds variables of its own to the tool information interface, at any
 * time, before MPI_Init and after MPI_Finalize too. Tools see them like all others: their numbers grow, names can be looked up,
 * the stamp of MPI_T_category_changed moves. Variables are never taken away; an object may be unloaded all the same, because
 * their memory is the library's.
 *
 * A program that must run with other MPI libraries too declares the function weak and looks whether it is there:
 *     extern __typeof__(ferrum_tool_add) ferrum_tool_add __attribute__((weak));
 *
 * A performance variable's words are zero at first. Write them with aligned stores of 64 bits, by one thread at a time; tools read
 * them whenever they like. A word is the value itself; nanoseconds for MPI_T_PVAR_CLASS_TIMER (told as seconds when the type is
 * MPI_DOUBLE); parts of 2^32 for MPI_T_PVAR_CLASS_PERCENTAGE. Levels, states, sizes, counters, aggregates, timers, percentages and
 * generic variables can be added, watermarks cannot. Tools can start and stop each of them.
 *
 * A control variable's word has its value in its low bytes, as the type says; tools, MPI_T_cvar_write and the environment
 * (FERRUM_ and the name in capitals) set it, within its limits. */
#ifndef FERRUM_TOOL_EXTENSION_H
#define FERRUM_TOOL_EXTENSION_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ferrum_tool_variable {
    size_t size;                      /* sizeof(struct ferrum_tool_variable) */
    const char *name;                 /* <subsystem>_<what is counted>, lower case */
    const char *description;          /* what it counts, and when it changes; NULL: nothing to say */
    const char *unit;                 /* NULL: none */
    const char *category;             /* a dotted path, such as "solver.cache" */
    const char *category_description; /* for a category that is new; NULL: nothing to say */
    int pvar_class;                   /* MPI_T_PVAR_CLASS_*; 0: a control variable */
    int scope;                        /* of a control variable: MPI_T_SCOPE_*; else not looked at */
    MPI_Datatype datatype;            /* MPI_INT, MPI_UNSIGNED, MPI_UNSIGNED_LONG_LONG, MPI_DOUBLE */
    int count;                        /* elements of a performance variable; 1 for a control variable */
    double initial, least, most;      /* of a control variable: its first value, and its limits (both 0: none) */
};

/* Adds a variable and stores the address of its words. MPI_SUCCESS; MPI_T_ERR_INVALID for what does not go together;
 * MPI_T_ERR_INVALID_NAME for a name that is empty or taken; MPI_T_ERR_MEMORY. Thread-safe; not for signal handlers. */
int ferrum_tool_add(const struct ferrum_tool_variable *variable, uint64_t **words);

#ifdef __cplusplus
}
#endif

#endif
