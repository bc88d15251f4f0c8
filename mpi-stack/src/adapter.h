/* The fixed part of the adapter: one interceptor around the calls of one place in the stack. Every place has a copy of
 * this object, so that the static variables belong to the place. The stack library stores the next tool's functions in
 * the relocations of PMPI_X. */
#ifndef ADAPTER_H
#define ADAPTER_H

#include <ferrum_stack.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>

/* The positions of arguments that describe a buffer, -1 for none (no count: one element), and whether it is significant
 * at the root alone. */
typedef struct adapter_buffer {
    signed char address, count, datatype, partitions, at_root;
} adapter_buffer;

/* The buffers of a function, and the position of its root, or -1. */
typedef struct adapter_buffers {
    int count, root;
    const adapter_buffer *rows;
} adapter_buffers;

extern const ferrum_function adapter_functions[];
extern const adapter_buffers adapter_all_buffers[];

static const ferrum_interceptor *adapter_interceptor;
static void *adapter_state;
/* The library's own functions: they reach no other tool. */
static int (*adapter_type_size)(MPI_Datatype, MPI_Count *);
static int (*adapter_comm_rank)(MPI_Comm, int *);
static int (*adapter_comm_test_inter)(MPI_Comm, int *);
/* Whether the interceptor has started and has not ended. */
static int adapter_runs;
/* Whether this thread executes enter or leave of this place's interceptor. */
static __thread int adapter_inside;

/* Called by the stack library before the first call. */
__attribute__((visibility("default"))) void ferrum_adapter_start(
    const ferrum_interceptor *interceptor, int count, int numbers, int (*type_size)(MPI_Datatype, MPI_Count *),
    int (*comm_rank)(MPI_Comm, int *), int (*comm_test_inter)(MPI_Comm, int *))
{
    static ferrum_host host;
    host.size = sizeof host;
    host.numbers = numbers;
    host.count = count;
    host.functions = adapter_functions;
    adapter_type_size = type_size;
    adapter_comm_rank = comm_rank;
    adapter_comm_test_inter = comm_test_inter;
    adapter_state = interceptor->start ? interceptor->start(&host) : NULL;
    adapter_interceptor = interceptor;
    __atomic_store_n(&adapter_runs, 1, __ATOMIC_RELEASE);
}

/* Called by the stack library when the process ends. Calls that come later pass. */
__attribute__((visibility("default"))) void ferrum_adapter_end(void)
{
    if (__atomic_exchange_n(&adapter_runs, 0, __ATOMIC_ACQ_REL) && adapter_interceptor->end)
        adapter_interceptor->end(adapter_state);
}

/* This thread's flag; NULL if a call is the tool's own, made by its functions, or comes before its start or after its
 * end. */
static inline int *adapter_flag(void)
{
    int *inside = &adapter_inside;
    return *inside || !__atomic_load_n(&adapter_runs, __ATOMIC_ACQUIRE) ? NULL : inside;
}

static inline void adapter_enter(ferrum_call *call, int *inside)
{
    if (!adapter_interceptor->enter)
        return;
    *inside = 1;
    adapter_interceptor->enter(adapter_state, call);
    *inside = 0;
}

static inline void adapter_leave(ferrum_call *call, int *inside)
{
    if (!adapter_interceptor->leave)
        return;
    *inside = 1;
    adapter_interceptor->leave(adapter_state, call);
    *inside = 0;
}

/* Which buffers of a function with a root are significant in this process. */
typedef struct adapter_place {
    int known, at_root, elsewhere;
} adapter_place;

/* In the group of the root of an intercommunicator, the root passes MPI_ROOT and the others MPI_PROC_NULL. In the other
 * group all pass the rank of the root, which may be the number of their own rank as well. */
static inline adapter_place adapter_place_of(const ferrum_call *call, const adapter_buffers *buffers, int64_t root)
{
    adapter_place place = {1, 0, 1};
    int rooted = 0, is_inter, rank;
    for (int i = 0; i < buffers->count; i++)
        rooted |= buffers->rows[i].at_root;
    if (root == MPI_PROC_NULL) {
        place.elsewhere = 0;
    } else if (root == MPI_ROOT) {
        place.at_root = 1;
        place.elsewhere = !rooted;
    } else if (rooted) {
        MPI_Comm comm = (MPI_Comm)call->arguments[call->function->object].address;
        place.known = adapter_comm_test_inter && adapter_comm_test_inter(comm, &is_inter) == MPI_SUCCESS &&
                      adapter_comm_rank && adapter_comm_rank(comm, &rank) == MPI_SUCCESS;
        place.at_root = place.known && !is_inter && rank == root;
    }
    return place;
}

/* The bytes of the first buffer that is significant in this process. The call has succeeded, so its arguments are
 * valid, and the library's functions raise no error. */
static int64_t adapter_bytes(const ferrum_call *call)
{
    const adapter_buffers *buffers = &adapter_all_buffers[call->function - adapter_functions];
    const ferrum_value *arguments = call->arguments;
    adapter_place place = {1, 1, 1};
    if (!call->function->is_error_code || call->result.integer != MPI_SUCCESS || !adapter_type_size)
        return -1;
    if (buffers->count && buffers->root >= 0)
        place = adapter_place_of(call, buffers, arguments[buffers->root].integer);
    if (!place.known)
        return -1;
    if (!place.at_root && !place.elsewhere)
        return 0;
    for (int i = 0; i < buffers->count; i++) {
        const adapter_buffer *row = &buffers->rows[i];
        MPI_Count size;
        if (arguments[row->address].address == MPI_IN_PLACE || !(row->at_root ? place.at_root : place.elsewhere))
            continue;
        int64_t count = row->count >= 0 ? arguments[row->count].integer : 1;
        if (row->partitions >= 0)
            count *= arguments[row->partitions].integer;
        if (count == 0)
            return 0;
        if (adapter_type_size((MPI_Datatype)arguments[row->datatype].address, &size) != MPI_SUCCESS || size < 0)
            return -1;
        return count * size;
    }
    return -1;
}

/* The further arguments of a variadic function: those in registers, and eight words of the stack. */
#define ADAPTER_FURTHER_ARGUMENTS(last)                                                                                \
    va_list adapter_list;                                                                                              \
    intptr_t adapter_words[13];                                                                                        \
    double adapter_reals[8];                                                                                           \
    va_start(adapter_list, last);                                                                                      \
    for (int i = 0; i < 13; i++)                                                                                       \
        adapter_words[i] = va_arg(adapter_list, intptr_t);                                                             \
    va_end(adapter_list);                                                                                              \
    va_start(adapter_list, last);                                                                                      \
    for (int i = 0; i < 8; i++)                                                                                        \
        adapter_reals[i] = va_arg(adapter_list, double);                                                               \
    va_end(adapter_list)

#define ADAPTER_FURTHER                                                                                                \
    adapter_words[0], adapter_words[1], adapter_words[2], adapter_words[3], adapter_words[4], adapter_words[5],        \
        adapter_words[6], adapter_words[7], adapter_words[8], adapter_words[9], adapter_words[10], adapter_words[11],  \
        adapter_words[12], adapter_reals[0], adapter_reals[1], adapter_reals[2], adapter_reals[3], adapter_reals[4],   \
        adapter_reals[5], adapter_reals[6], adapter_reals[7]

#endif
