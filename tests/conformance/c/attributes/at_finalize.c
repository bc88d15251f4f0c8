/* MPI_Finalize first deletes the attributes of MPI_COMM_SELF, the last one set first, while MPI can still be used. */
#include "check.h"

static int order[3], calls;

static int delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int finalized = -1, back = -1, number = 7;
    order[calls++] = *(int *)value;
    check(comm == MPI_COMM_SELF);
    ok(MPI_Finalized(&finalized));
    check_equal(finalized, 0);
    ok(MPI_Sendrecv(&number, 1, MPI_INT, 0, 1, &back, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    check_equal(back, 7);
    ok(MPI_Barrier(MPI_COMM_WORLD));
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int keys[3], values[3] = {10, 11, 12}, finalized = 0;
    begin(&argc, &argv);
    for (int i = 0; i < 3; i++) {
        ok(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &keys[i], NULL));
        ok(MPI_Comm_set_attr(MPI_COMM_SELF, keys[i], &values[i]));
        ok(MPI_Comm_free_keyval(&keys[i]));
    }
    MPI_Finalize();
    MPI_Finalized(&finalized);
    check_equal(finalized, 1);
    check_equal(calls, 3);
    check(order[0] == 12 && order[1] == 11 && order[2] == 10);
    if (rank == 0 && wrong == 0)
        printf("No Errors\n");
    return wrong != 0;
}
