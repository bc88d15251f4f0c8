/* An extension of Ferrum MPI: the typed interface for tools that see every MPI call through two functions, one before
 * and one after the call. The arguments can be read by name, position or kind; the result can be changed.
 *
 * A tool is a shared object that defines one variable:
 *     const ferrum_interceptor ferrum_interceptor_v1 = {.size = sizeof(ferrum_interceptor), .enter = enter};
 *
 *     mpicc -shared -fPIC tool.c -o libtool.so
 *     mpiexec --tool ./libtool.so -n 2 ./program
 *
 * Several tools form a stack with those that define MPI functions themselves, in the order of the options --tool. The
 * functions of one call run in this order: enter of the first tool, enter of the second, the library, leave of the
 * second, leave of the first.
 *
 * Calls. Several threads may call enter and leave at once. PMPI_X called from enter or leave reaches the tools behind
 * this one, and last the library. MPI_X called from there begins at the first tool; this tool's own functions are then
 * not called, so that it does not call itself without end. A call that does not return (MPI_Abort, a fatal error) has
 * no leave.
 *
 * Lifetimes. A ferrum_call and what it points to are valid until enter or leave returns; the tables of functions and
 * parameters until the process ends. */
#ifndef FERRUM_STACK_EXTENSION_H
#define FERRUM_STACK_EXTENSION_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L)
#define FERRUM_INLINE static inline
#else
#define FERRUM_INLINE static __inline__
#endif

/* How a value is represented. */
typedef enum ferrum_type {
    FERRUM_VOID,    /* further arguments of MPI_Pcontrol: no value */
    FERRUM_INT,     /* int and enumerations, in .integer */
    FERRUM_INT64,   /* MPI_Aint, MPI_Count, MPI_Offset, in .integer */
    FERRUM_DOUBLE,  /* in .real */
    FERRUM_HANDLE,  /* a handle such as MPI_Comm, in .address */
    FERRUM_ADDRESS, /* an address of memory: a buffer, an array, a text, the place of a result, in .address */
    FERRUM_FUNCTION /* the address of a function, in .address */
} ferrum_type;

/* The direction of an argument, as in the standard's definition of the function. */
typedef enum ferrum_direction { FERRUM_IN, FERRUM_OUT, FERRUM_INOUT } ferrum_direction;

typedef union ferrum_value {
    int64_t integer;
    double real;
    void *address;
} ferrum_value;

typedef struct ferrum_parameter {
    const char *name;   /* as in the standard: "dest" */
    const char *kind;   /* the standard's kind of parameter: "RANK_DEST" */
    const char *c_type; /* as in mpi.h: "int" */
    ferrum_type type;
    ferrum_direction direction;
} ferrum_parameter;

typedef struct ferrum_function {
    const char *name; /* "MPI_Send" */
    int number;       /* the same in all processes and tools; below ferrum_host.numbers */
    int count;        /* of the parameters */
    const ferrum_parameter *parameters;
    ferrum_type result;    /* of the result */
    int is_error_code;     /* 1: the result is an error code */
    int peer, tag, object; /* positions of the rank, the tag, the communicator (window, file); -1: there is none */
} ferrum_function;

typedef struct ferrum_call {
    const ferrum_function *function;
    const ferrum_value *arguments; /* function->count of them */
    ferrum_value result;           /* in leave: what the call returns; leave may change it */
    uint64_t kept;                 /* 0 in enter; what enter stores here, leave finds */
    /* The bytes that the arguments describe: see ferrum_bytes. */
    int64_t (*bytes)(const struct ferrum_call *call);
} ferrum_call;

/* What a tool can use from its start to its end. */
typedef struct ferrum_host {
    size_t size;                      /* sizeof(ferrum_host) */
    int numbers;                      /* every function's number is below this */
    int count;                        /* of functions */
    const ferrum_function *functions; /* those of this library, in the order of their names */
} ferrum_host;

/* A tool. Functions that it does not need are NULL. */
typedef struct ferrum_interceptor {
    size_t size; /* sizeof(ferrum_interceptor) */
    /* When the tool is loaded, before the first call. Returns the tool's own state, which the other functions get. */
    void *(*start)(const ferrum_host *host);
    /* Before and after a call. */
    void (*enter)(void *state, ferrum_call *call);
    void (*leave)(void *state, ferrum_call *call);
    /* When the process ends by itself, after MPI_Finalize. */
    void (*end)(void *state);
} ferrum_interceptor;

/* The variable that a tool defines. */
extern
#if defined(__GNUC__)
    __attribute__((visibility("default")))
#endif
    const ferrum_interceptor ferrum_interceptor_v1;

/* The position of a parameter, or -1. */
FERRUM_INLINE int ferrum_find(const ferrum_function *function, const char *name)
{
    int i;
    for (i = 0; i < function->count; i++)
        if (strcmp(function->parameters[i].name, name) == 0)
            return i;
    return -1;
}

/* Arguments by name: 1 and the value if the call has an argument of this name and type, else 0. */
FERRUM_INLINE int ferrum_argument(const ferrum_call *call, const char *name, ferrum_type type, ferrum_value *value)
{
    int i = ferrum_find(call->function, name);
    if (i < 0 || call->function->parameters[i].type != type)
        return 0;
    *value = call->arguments[i];
    return 1;
}

FERRUM_INLINE int ferrum_int(const ferrum_call *call, const char *name, int *value)
{
    ferrum_value found;
    if (!ferrum_argument(call, name, FERRUM_INT, &found))
        return 0;
    *value = (int)found.integer;
    return 1;
}

/* A number of 32 or 64 bits, such as the count of MPI_Send and of MPI_Send_c. */
FERRUM_INLINE int ferrum_number(const ferrum_call *call, const char *name, int64_t *value)
{
    ferrum_value found;
    if (!ferrum_argument(call, name, FERRUM_INT, &found) && !ferrum_argument(call, name, FERRUM_INT64, &found))
        return 0;
    *value = found.integer;
    return 1;
}

FERRUM_INLINE int ferrum_address(const ferrum_call *call, const char *name, void **value)
{
    ferrum_value found;
    if (!ferrum_argument(call, name, FERRUM_ADDRESS, &found))
        return 0;
    *value = found.address;
    return 1;
}

/* A handle; the variable's type is the handle's: MPI_Comm comm; ferrum_handle(call, "comm", &comm). */
#define ferrum_handle(call, name, place) ferrum_handle_at((call), (name), (void *)(place))
FERRUM_INLINE int ferrum_handle_at(const ferrum_call *call, const char *name, void *place)
{
    ferrum_value found;
    if (!ferrum_argument(call, name, FERRUM_HANDLE, &found))
        return 0;
    memcpy(place, &found.address, sizeof found.address);
    return 1;
}

/* In leave: the bytes that the arguments describe, count times size of the datatype: of the data that the process
 * sends, else of the room that it receives into (MPI_IN_PLACE: of the other buffer). -1: the function has no buffer,
 * the call failed, or the buffer is not significant in this process. */
FERRUM_INLINE int64_t ferrum_bytes(const ferrum_call *call)
{
    return call->bytes(call);
}

#ifdef __cplusplus
}
#endif

#endif
