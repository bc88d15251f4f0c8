/* A typed tool: checks the arguments of MPI_Send by name and kind, changes the results of MPI_Comm_rank and MPI_Wtime
 * when TYPED_CHANGE is set, counts calls in its own state, and calls MPI_ and PMPI_ functions from enter. */
#include <ferrum_stack.h>
#include <stdio.h>
#include <stdlib.h>

struct state {
    long calls, sends, bytes, inner;
    int numbers;
};

static void *start(const ferrum_host *host)
{
    struct state *state = calloc(1, sizeof *state);
    int flag = -1;
    state->numbers = host->numbers;
    /* A tool may make calls when it starts; the tools behind it have not started then. */
    if (PMPI_Initialized(&flag) != MPI_SUCCESS || flag < 0)
        fprintf(stderr, "typed: a call at the start failed\n");
    for (int i = 1; i < host->count; i++)
        if (strcmp(host->functions[i - 1].name, host->functions[i].name) >= 0)
            fprintf(stderr, "typed: functions are not in order\n");
    return state;
}

static void enter(void *own, ferrum_call *call)
{
    struct state *state = own;
    const ferrum_function *function = call->function;
    __atomic_fetch_add(&state->calls, 1, __ATOMIC_RELAXED);
    call->kept = (uint64_t)function->number + 1;
    if (function->number >= state->numbers)
        fprintf(stderr, "typed: %s has a number that is too large\n", function->name);
    if (strcmp(function->name, "MPI_Send") == 0) {
        int dest, tag, size, rank;
        int64_t count;
        void *buf;
        MPI_Comm comm;
        MPI_Datatype datatype;
        int good = ferrum_int(call, "dest", &dest) && ferrum_int(call, "tag", &tag) && dest == 0 && tag == 7 &&
                   ferrum_number(call, "count", &count) && count == 4 && ferrum_address(call, "buf", &buf) &&
                   *(int *)buf == 1 && ferrum_handle(call, "comm", &comm) && comm == MPI_COMM_WORLD &&
                   ferrum_handle(call, "datatype", &datatype) && datatype == MPI_INT &&
                   !ferrum_int(call, "buf", &dest) && !ferrum_int(call, "nothing", &dest) &&
                   call->arguments[function->peer].integer == 0 && call->arguments[function->tag].integer == 7 &&
                   call->arguments[function->object].address == (void *)MPI_COMM_WORLD &&
                   strcmp(function->parameters[function->peer].kind, "RANK_DEST") == 0 &&
                   strcmp(function->parameters[0].c_type, "const void *") == 0 && function->is_error_code;
        /* The first reaches all tools, and not this one again; the second those behind it. */
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (!good || rank != 1 || size < 2)
            fprintf(stderr, "typed: an argument of MPI_Send is wrong\n");
        __atomic_fetch_add(&state->sends, 1, __ATOMIC_RELAXED);
    }
}

static void leave(void *own, ferrum_call *call)
{
    struct state *state = own;
    if (call->kept != (uint64_t)call->function->number + 1)
        fprintf(stderr, "typed: the kept value is lost\n");
    if (strcmp(call->function->name, "MPI_Send") == 0)
        __atomic_fetch_add(&state->bytes, ferrum_bytes(call), __ATOMIC_RELAXED);
    if (getenv("TYPED_CHANGE") && strcmp(call->function->name, "MPI_Wtime") == 0)
        call->result.real = 42.5;
    if (getenv("TYPED_CHANGE") && strcmp(call->function->name, "MPI_Comm_rank") == 0)
        call->result.integer = MPI_ERR_COMM;
}

static void end(void *own)
{
    struct state *state = own;
    fprintf(stderr, "typed: %ld calls, %ld sends of %ld bytes\n", state->calls, state->sends, state->bytes);
    free(state);
}

const ferrum_interceptor ferrum_interceptor_v1 = {sizeof(ferrum_interceptor), start, enter, leave, end};
