/* One function of each kind, from all headers, in the common part of C89 and C++98: a message, a collective with a
 * user operation, an attribute, an error handler, a generalized request, a datatype, a window, a group, an info object,
 * variables of tools. Every rank checks its results; rank 0 prints "No Errors". */
#include <ferrum_tool.h>
#include <mpi.h>
#include <mpit_draft.h>
#include <stdio.h>
#include <string.h>

static int wrong, deleted, handled;

#define check(condition) ((condition) ? (void)0 : wrong_at(__LINE__, #condition))

static void wrong_at(int line, const char *condition)
{
    wrong++;
    fprintf(stderr, "uses.c:%d: not so: %s\n", line, condition);
}

static void last_of(void *in, void *inout, int *length, MPI_Datatype *type)
{
    int i;
    check(*type == MPI_INT);
    for (i = 0; i < *length; i++)
        if (((int *)in)[i] > ((int *)inout)[i])
            ((int *)inout)[i] = ((int *)in)[i];
}

static int delete_value(MPI_Comm comm, int keyval, void *value, void *extra)
{
    deleted += comm != MPI_COMM_NULL && keyval != MPI_KEYVAL_INVALID && value == extra;
    return MPI_SUCCESS;
}

static void handle(MPI_Comm *comm, int *code, ...)
{
    handled += *comm == MPI_COMM_SELF && *code != MPI_SUCCESS;
}

static int query(void *extra, MPI_Status *status)
{
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = *(int *)extra;
    MPI_Status_set_cancelled(status, 0);
    return MPI_Status_set_elements(status, MPI_BYTE, 3);
}

static int release(void *extra)
{
    *(int *)extra = 0;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void)extra;
    (void)complete;
    return MPI_SUCCESS;
}

static void messages(int rank, int size)
{
    int out = rank, in = -1, count = -1, most = -1;
    MPI_Op op;
    MPI_Status status;
    MPI_Request request;
    MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD, &request);
    MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Get_count(&status, MPI_INT, &count);
    check(request == MPI_REQUEST_NULL && count == 1 && in == (rank + size - 1) % size);
    check(status.MPI_SOURCE == in && status.MPI_TAG == 3);
    MPI_Op_create(last_of, 1, &op);
    MPI_Allreduce(&rank, &most, 1, MPI_INT, op, MPI_COMM_WORLD);
    check(most == size - 1);
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(most == size * (size - 1));
    MPI_Op_free(&op);
    check(op == MPI_OP_NULL);
}

static void callbacks(void)
{
    int keyval = MPI_KEYVAL_INVALID, tag = 42, flag = 0;
    void *value = NULL;
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Errhandler handler;
    MPI_Request request;
    MPI_Status status;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_value, &keyval, &tag);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_attr(copy, keyval, &tag);
    MPI_Comm_get_attr(copy, keyval, &value, &flag);
    check(flag && value == &tag);
    MPI_Comm_free(&copy);
    MPI_Comm_free_keyval(&keyval);
    check(deleted == 1);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    check(MPI_Send(&tag, 1, MPI_INT, 7, 0, MPI_COMM_SELF) != MPI_SUCCESS);
    check(handled == 1);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    MPI_Grequest_start(query, release, cancel, &tag, &request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    check(status.MPI_TAG == 42 && tag == 0);
}

static void objects(int size)
{
    int lengths[2] = {1, 2}, members = 0, ranges[1][3] = {{0, 0, 1}}, bytes = 0, flag = 0, *memory = NULL;
    char text[MPI_MAX_INFO_VAL], processor[MPI_MAX_PROCESSOR_NAME];
    MPI_Aint places[2] = {0, 8};
    MPI_Datatype type, parts[2];
    MPI_Group group, part;
    MPI_Info info;
    MPI_Win window;
    MPI_Count count = 0;
    parts[0] = MPI_DOUBLE;
    parts[1] = MPI_INT;
    MPI_Type_create_struct(2, lengths, places, parts, &type);
    MPI_Type_commit(&type);
    MPI_Type_size(type, &bytes);
    MPI_Type_size_x(type, &count);
    check(bytes == 16 && count == 16);
    MPI_Type_free(&type);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group_range_incl(group, 1, ranges, &part);
    MPI_Group_size(part, &members);
    check(members == 1);
    MPI_Group_free(&part);
    MPI_Group_free(&group);
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    MPI_Info_get(info, "key", (int)sizeof text - 1, text, &flag);
    check(flag && strcmp(text, "value") == 0);
    MPI_Win_allocate(8, 1, info, MPI_COMM_WORLD, &memory, &window);
    MPI_Info_free(&info);
    MPI_Win_fence(0, window);
    MPI_Put(&size, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    MPI_Win_free(&window);
    MPI_Get_processor_name(processor, &bytes);
    check(bytes == (int)strlen(processor) && MPI_Wtime() >= 0 && MPI_Wtick() > 0);
}

static void tools(void)
{
    int provided, variables = 0, drafted = 0;
    uint64_t *word = NULL;
    struct ferrum_tool_variable variable;
    memset(&variable, 0, sizeof variable);
    variable.size = sizeof variable;
    variable.name = "headers_uses";
    variable.category = "headers";
    variable.pvar_class = MPI_T_PVAR_CLASS_COUNTER;
    variable.datatype = MPI_UNSIGNED_LONG_LONG;
    check(ferrum_tool_add(&variable, &word) == MPI_SUCCESS && word != NULL);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_get_num(&variables);
    MPIT_Init();
    MPIT_Perfvar_get_num(&drafted);
    check(variables > 0 && variables == drafted);
    MPIT_Finalize();
    MPI_T_finalize();
}

int main(int argc, char **argv)
{
    int rank, size, total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Pcontrol(1, "text", 2.0, rank);
    messages(rank, size);
    callbacks();
    objects(size);
    tools();
    MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf(total ? "errors\n" : "No Errors\n");
    MPI_Finalize();
    return total != 0;
}
