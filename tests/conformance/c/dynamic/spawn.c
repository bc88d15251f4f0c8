/* Processes that a communicator spawns get their arguments and a communicator with those that spawned them, by which
 * both exchange messages, call collectives and merge. */
#include "check.h"

#define CHILDREN 3

static char *arguments[] = {"child", "two words", "", "'\"\\ \n%", NULL};

static void exchange(MPI_Comm inter, int high, int others)
{
    int number = -1, sum = 0, flag, all, place;
    MPI_Comm both;
    MPI_Status status;
    ok(MPI_Comm_test_inter(inter, &flag));
    check(flag);
    ok(MPI_Comm_remote_size(inter, &number));
    check_equal(number, others);

    /* Everyone sends to everyone of the other group. */
    for (int i = 0; i < others; i++) {
        int value = 100 * rank + i;
        ok(MPI_Send(&value, 1, MPI_INT, i, 7, inter));
    }
    for (int i = 0; i < others; i++) {
        ok(MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 7, inter, &status));
        check_equal(number, 100 * status.MPI_SOURCE + rank);
    }
    ok(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter));
    check_equal(sum, others * (others - 1) / 2);

    /* A long message to each, and back. */
    enum { LONG = 300000 };
    int *data = malloc(LONG * sizeof *data), *back = malloc(LONG * sizeof *back);
    for (int i = 0; i < LONG; i++)
        data[i] = i ^ rank;
    for (int other = 0; other < others; other++) {
        MPI_Request request;
        ok(MPI_Irecv(back, LONG, MPI_INT, other, 8, inter, &request));
        ok(MPI_Send(data, LONG, MPI_INT, other, 8, inter));
        ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        int right = 0;
        for (int i = 0; i < LONG; i++)
            right += back[i] == (i ^ other);
        check_equal(right, LONG);
    }
    free(data);
    free(back);

    /* The merged communicator has the group first that passes false. */
    ok(MPI_Intercomm_merge(inter, high, &both));
    ok(MPI_Comm_size(both, &all));
    ok(MPI_Comm_rank(both, &place));
    check_equal(all, size + others);
    check_equal(place, high ? others + rank : rank);
    ok(MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, both));
    check_equal(sum, all * (all - 1) / 2);
    ok(MPI_Barrier(both));
    ok(MPI_Comm_free(&both));
}

static int child(MPI_Comm parent, int argc, char **argv)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length, parents;
    check_equal(argc, 5);
    for (int i = 0; i < 4 && i + 1 < argc; i++)
        check(strcmp(argv[i + 1], arguments[i]) == 0);
    check_equal(size, CHILDREN);
    ok(MPI_Comm_get_name(parent, name, &length));
    check(strcmp(name, "MPI_COMM_PARENT") == 0);
    ok(MPI_Comm_remote_size(parent, &parents));
    exchange(parent, 1, parents);
    ok(MPI_Reduce(&wrong, NULL, 1, MPI_INT, MPI_SUM, 0, parent));
    ok(MPI_Comm_disconnect(&parent));
    check(parent == MPI_COMM_NULL);
    ok(MPI_Comm_get_parent(&parent));
    check(parent == MPI_COMM_NULL);
    MPI_Finalize();
    return wrong != 0;
}

int main(int argc, char **argv)
{
    MPI_Comm parent, children = MPI_COMM_NULL;
    int codes[CHILDREN] = {-1, -1, -1}, of_children = -1;
    begin(&argc, &argv);
    ok(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL)
        return child(parent, argc, argv);

    int root = size - 1;
    /* What is significant at the root alone is not looked at elsewhere. */
    if (rank == root)
        ok(MPI_Comm_spawn(argv[0], arguments, CHILDREN, MPI_INFO_NULL, root, MPI_COMM_WORLD, &children, codes));
    else
        ok(MPI_Comm_spawn(NULL, NULL, -5, MPI_INFO_NULL, root, MPI_COMM_WORLD, &children, codes));
    for (int i = 0; i < CHILDREN; i++)
        check_equal(codes[i], MPI_SUCCESS);
    exchange(children, 0, CHILDREN);
    ok(MPI_Reduce(NULL, &of_children, 1, MPI_INT, MPI_SUM, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, children));
    if (rank == 0)
        check_equal(of_children, 0);
    ok(MPI_Comm_disconnect(&children));
    check(children == MPI_COMM_NULL);

    /* Each process alone, without codes, all at the same time. */
    ok(MPI_Comm_spawn(argv[0], arguments, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE));
    int whole = rank, all = size;
    rank = 0, size = 1;
    exchange(children, 0, CHILDREN);
    ok(MPI_Reduce(NULL, &of_children, 1, MPI_INT, MPI_SUM, MPI_ROOT, children));
    check_equal(of_children, 0);
    ok(MPI_Comm_disconnect(&children));
    rank = whole, size = all;
    return finish();
}
