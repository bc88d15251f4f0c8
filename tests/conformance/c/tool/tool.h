/* Functions for the programs about the tool information interface: to find a variable, to bind a handle, to read one
 * value. */
#ifndef FERRUM_TOOL_H
#define FERRUM_TOOL_H

#include "check.h"

/* The results of MPI_T_pvar_get_info. */
struct pvar_info {
    char name[256], description[1024];
    int verbosity, class, bind, readonly, continuous, atomic;
    MPI_Datatype type;
    MPI_T_enum items;
};

static inline struct pvar_info pvar_info(int index)
{
    struct pvar_info info;
    int name_length = (int)sizeof info.name, description_length = (int)sizeof info.description;
    memset(&info, 0, sizeof info);
    ok(MPI_T_pvar_get_info(index, info.name, &name_length, &info.verbosity, &info.class, &info.type, &info.items,
                           info.description, &description_length, &info.bind, &info.readonly, &info.continuous,
                           &info.atomic));
    return info;
}

static inline int find_pvar(const char *name, int class)
{
    int index = -1;
    ok(MPI_T_pvar_get_index(name, class, &index));
    return index;
}

/* A started handle of a variable by name, bound to this communicator if the variable has such objects. */
static inline MPI_T_pvar_handle watch(MPI_T_pvar_session session, const char *name, int class, MPI_Comm comm)
{
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int count = -1, index = find_pvar(name, class);
    ok(MPI_T_pvar_handle_alloc(session, index, &comm, &handle, &count));
    check_equal(count, 1);
    if (!pvar_info(index).continuous)
        ok(MPI_T_pvar_start(session, handle));
    return handle;
}

/* The value of a variable of an unsigned integer type of 4 or 8 bytes. */
static inline unsigned long long read_pvar(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    unsigned long long value = 0;
    ok(MPI_T_pvar_read(session, handle, &value));
    return value;
}

static inline void tool_begin(void)
{
    int provided = -1;
    ok(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    check(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE);
}

#endif
