/* Functions for the programs about events: to find an event type, to register a callback, to read elements. */
#ifndef FERRUM_EVENTS_H
#define FERRUM_EVENTS_H

#include "tool.h"

static inline int find_event(const char *name)
{
    int index = -1;
    ok(MPI_T_event_get_index(name, &index));
    return index;
}

/* A registration with one callback, bound to this communicator if the event type has such objects. */
static inline MPI_T_event_registration add_callback(const char *name, MPI_Comm comm, MPI_T_cb_safety level,
                                                    MPI_T_event_cb_function callback, void *data)
{
    MPI_T_event_registration registration;
    ok(MPI_T_event_handle_alloc(find_event(name), &comm, MPI_INFO_NULL, &registration));
    ok(MPI_T_event_register_callback(registration, level, MPI_INFO_NULL, data, callback));
    return registration;
}

static inline int int_element(MPI_T_event_instance instance, int element)
{
    int value = -12345;
    ok(MPI_T_event_read(instance, element, &value));
    return value;
}

static inline unsigned long long long_element(MPI_T_event_instance instance, int element)
{
    unsigned long long value = 12345;
    ok(MPI_T_event_read(instance, element, &value));
    return value;
}

#endif
