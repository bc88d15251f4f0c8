/* With coll_check on, collective calls that do not match fail in all processes with an error that names the ranks.
 * No such call is carried out, and the communicator can be used afterwards. The program's own operations and types
 * are no mismatch. */
#include "tool.h"

static void set_check(int on)
{
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int index = -1, count = 0, was = -1;
    ok(MPI_T_cvar_get_index("coll_check", &index));
    ok(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    ok(MPI_T_cvar_read(handle, &was));
    check_equal(was, !on);
    ok(MPI_T_cvar_write(handle, &on));
    ok(MPI_T_cvar_handle_free(&handle));
}

/* The call failed, and its text contains both strings. */
static void fails(int code, const char *one, const char *other)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    check_class(code, MPI_ERR_OTHER);
    ok(MPI_Error_string(code, text, &length));
    check(strstr(text, one) && strstr(text, other));
    if (wrong)
        fprintf(stderr, "%s\n", text);
}

static void sum(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

int main(int argc, char **argv)
{
    int provided, value, last, mine[64] = {0}, all[64] = {0};
    MPI_Op own;
    MPI_Datatype type;
    begin(&argc, &argv);
    ok(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    ok(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    last = size - 1;
    ok(MPI_Barrier(MPI_COMM_WORLD));
    set_check(1);

    value = 40 + rank;
    fails(MPI_Bcast(&value, 1, MPI_INT, rank == last ? last : 0, MPI_COMM_WORLD), "MPI_Bcast of 4 bytes with root 0",
          "rank ");
    check_equal(value, 40 + rank);
    fails(MPI_Bcast(mine, rank == last ? 2 : 1, MPI_INT, 0, MPI_COMM_WORLD), "of 4 bytes", "of 8 bytes");
    fails(rank == last ? MPI_Barrier(MPI_COMM_WORLD)
                       : MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD),
          "MPI_Barrier", "MPI_Allgather of 4 bytes");
    fails(MPI_Reduce(&value, all, 1, MPI_INT, rank == last ? MPI_MAX : MPI_MIN, 0, MPI_COMM_WORLD), "MPI_MAX",
          "MPI_MIN");
    fails(MPI_Allreduce(&value, all, 1, rank == last ? MPI_FLOAT : MPI_INT, MPI_SUM, MPI_COMM_WORLD), "MPI_FLOAT",
          "MPI_INT");

    ok(MPI_Op_create(sum, 1, &own));
    ok(MPI_Type_dup(MPI_INT, &type));
    value = 1;
    ok(MPI_Allreduce(&value, all, 1, rank == last ? type : MPI_INT, own, MPI_COMM_WORLD));
    check_equal(all[0], size);
    ok(MPI_Gather(&rank, 1, type, all, 1, MPI_INT, 0, MPI_COMM_WORLD));
    for (int i = 0; i < size && rank == 0; i++)
        check_equal(all[i], i);
    ok(MPI_Scatter(all, 1, MPI_INT, &value, 1, type, 0, MPI_COMM_WORLD));
    check_equal(value, rank);
    ok(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
    ok(MPI_Type_free(&type));
    ok(MPI_Op_free(&own));

    ok(MPI_Barrier(MPI_COMM_WORLD));
    set_check(0);
    ok(MPI_Barrier(MPI_COMM_WORLD));
    ok(MPI_T_finalize());
    return finish();
}
