/* Functions for the programs about variables bound to objects other than communicators. */
#ifndef FERRUM_BOUND_H
#define FERRUM_BOUND_H

#include "tool.h"

/* A handle, started unless the variable is continuous, bound to the object whose handle is at this address. */
static inline MPI_T_pvar_handle watch_object(MPI_T_pvar_session session, const char *name, int class, void *object)
{
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int count = -1, index = find_pvar(name, class);
    ok(MPI_T_pvar_handle_alloc(session, index, object, &handle, &count));
    check_equal(count, 1);
    if (!pvar_info(index).continuous)
        ok(MPI_T_pvar_start(session, handle));
    return handle;
}

/* Allocating a handle for the object at this address fails. */
static inline void refuse_object(MPI_T_pvar_session session, const char *name, int class, void *object)
{
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int count = -1;
    check_equal(MPI_T_pvar_handle_alloc(session, find_pvar(name, class), object, &handle, &count), MPI_T_ERR_INVALID);
    check(handle == MPI_T_PVAR_HANDLE_NULL && count == -1);
}

/* The object of the handle was freed: every call but the one that frees the handle fails. */
static inline void check_ended(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    double value = 0;
    check_equal(MPI_T_pvar_read(session, handle, &value), MPI_T_ERR_INVALID_HANDLE);
    ok(MPI_T_pvar_handle_free(session, &handle));
}

static inline double read_part(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    double value = -1;
    ok(MPI_T_pvar_read(session, handle, &value));
    check(value >= 0 && value <= 1);
    return value;
}

#endif
