/* Communicators of parts of others: members and order, the null communicator in the other processes, separate
 * messages. */
#include "check.h"

/* A ring over the communicator: each rank sends the communicator's number to the next rank. */
static void ring(MPI_Comm comm, int number)
{
    int mine, count, value = -1;
    MPI_Comm_rank(comm, &mine);
    MPI_Comm_size(comm, &count);
    int sent = number * 100 + mine;
    ok(MPI_Sendrecv(&sent, 1, MPI_INT, (mine + 1) % count, 5, &value, 1, MPI_INT, (mine + count - 1) % count, 5, comm,
                    MPI_STATUS_IGNORE));
    check_equal(value, number * 100 + (mine + count - 1) % count);
    ok(MPI_Barrier(comm));
}

int main(int argc, char **argv)
{
    MPI_Group world, part;
    MPI_Comm made, again;
    int mine = -1, ranks[16], count = 0, result;
    begin(&argc, &argv);
    ok(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int i = size - 1; i >= 0; i -= 2)
        ranks[count++] = i;
    ok(MPI_Group_incl(world, count, ranks, &part));
    int member = (size - 1 - rank) % 2 == 0;

    /* MPI_Comm_create: collective over all processes. */
    made = MPI_COMM_WORLD;
    ok(MPI_Comm_create(MPI_COMM_WORLD, part, &made));
    check((made != MPI_COMM_NULL) == member);
    if (member) {
        ok(MPI_Comm_rank(made, &mine));
        check_equal(mine, (size - 1 - rank) / 2);
        ring(made, 1);
    }
    /* Disjoint groups in one call. */
    MPI_Group own;
    if (member) {
        ok(MPI_Group_incl(part, count, (int[]){0, 1, 2, 3, 4, 5, 6, 7}, &own));
    } else {
        ok(MPI_Group_difference(world, part, &own));
    }
    ok(MPI_Comm_create(MPI_COMM_WORLD, own, &again));
    check(again != MPI_COMM_NULL);
    ring(again, 2 + member);
    if (member) {
        ok(MPI_Comm_compare(made, again, &result));
        check_equal(result, MPI_CONGRUENT);
    }
    ok(MPI_Comm_free(&again));
    ok(MPI_Group_free(&own));
    ok(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &again));
    check(again == MPI_COMM_NULL);

    /* MPI_Comm_create_group: collective over the group alone; any tag. */
    if (member) {
        for (int i = 0; i < 3; i++) {
            int tag = (int[]){0, 7, 2147483647}[i];
            ok(MPI_Comm_create_group(MPI_COMM_WORLD, part, tag, &again));
            ring(again, 4);
            ok(MPI_Comm_free(&again));
        }
        ok(MPI_Comm_create_group(made, part, 1, &again));
        ok(MPI_Comm_free(&again));
        ok(MPI_Comm_free(&made));
    }
    ok(MPI_Group_free(&part));
    ok(MPI_Group_free(&world));

    /* A group that is not part of the communicator. */
    return_errors();
    ok(MPI_Comm_group(MPI_COMM_WORLD, &world));
    if (size > 1)
        check_class(MPI_Comm_create(MPI_COMM_SELF, world, &again), MPI_ERR_GROUP);
    check_class(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &again), MPI_ERR_GROUP);
    check_class(MPI_Comm_create_group(MPI_COMM_WORLD, world, -1, &again), MPI_ERR_TAG);
    ok(MPI_Group_free(&world));
    return finish();
}
