/* Adds the variables that Open MPI's own tools look up by name, through ferrum_tool.h, and counts into them by the
 * profiling interface: the unchanged tools would end without them. For 2 processes. */
#include <ferrum_tool.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANKS = 2 };

static uint64_t *sent, *received, *messages, *sizes;

static uint64_t *add(const char *name, int class, int count)
{
    struct ferrum_tool_variable new = {.size = sizeof new, .name = name,
                                       .description = "Under the name of another library.", .category = "names",
                                       .pvar_class = class, .datatype = MPI_UNSIGNED_LONG_LONG, .count = count};
    uint64_t *words;
    if (ferrum_tool_add(&new, &words) != MPI_SUCCESS) {
        fprintf(stderr, "names: %s cannot be added\n", name);
        exit(3);
    }
    return words;
}

__attribute__((constructor)) static void begin(void)
{
    static const char *const others[] = {"osc_monitoring_messages_sent_count", "osc_monitoring_messages_sent_size",
                                         "osc_monitoring_messages_recv_count", "osc_monitoring_messages_recv_size",
                                         "coll_monitoring_messages_count", "coll_monitoring_messages_size"};
    sent = add("runtime_spc_OMPI_SPC_BYTES_SENT_USER", MPI_T_PVAR_CLASS_COUNTER, 1);
    received = add("runtime_spc_OMPI_SPC_BYTES_RECEIVED_USER", MPI_T_PVAR_CLASS_COUNTER, 1);
    messages = add("pml_monitoring_messages_count", MPI_T_PVAR_CLASS_SIZE, RANKS);
    sizes = add("pml_monitoring_messages_size", MPI_T_PVAR_CLASS_SIZE, RANKS);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        add(others[i], MPI_T_PVAR_CLASS_SIZE, RANKS);
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    int size;
    PMPI_Type_size(type, &size);
    *sent += (uint64_t)count * (uint64_t)size;
    if (to >= 0 && to < RANKS) {
        messages[to]++;
        sizes[to] += (uint64_t)count * (uint64_t)size;
    }
    return PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Status own;
    int bytes, result = PMPI_Recv(buffer, count, type, from, tag, comm, &own);
    PMPI_Get_count(&own, MPI_BYTE, &bytes);
    *received += (uint64_t)bytes;
    if (status != MPI_STATUS_IGNORE)
        *status = own;
    return result;
}
