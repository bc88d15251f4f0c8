/* Splitting by color, with ranks ordered by key, and by kind of memory; the new communicator has the parent's error
 * handler. */
#include "check.h"

static int calls;

static void handler(MPI_Comm *comm, int *code, ...)
{
    calls++;
}

int main(int argc, char **argv)
{
    MPI_Comm made, second;
    MPI_Errhandler errhandler;
    MPI_Info info;
    int mine = -1, number = -1, total = 0, inter = -1, result = -1;
    begin(&argc, &argv);
    ok(MPI_Comm_create_errhandler(handler, &errhandler));
    ok(MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler));

    ok(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &made));
    ok(MPI_Comm_rank(made, &mine));
    ok(MPI_Comm_size(made, &number));
    check_equal(number, rank % 2 ? size / 2 : (size + 1) / 2);
    check_equal(mine, number - 1 - rank / 2);
    ok(MPI_Allreduce(&rank, &total, 1, MPI_INT, MPI_SUM, made));
    check_equal(total, rank % 2 ? number * number : number * (number - 1));
    check_class(MPI_Send(&total, 1, MPI_INT, number, 0, made), MPI_ERR_RANK);
    check_equal(calls, 1);
    ok(MPI_Comm_test_inter(made, &inter));
    check_equal(inter, 0);
    /* The smaller communicator is split again. */
    ok(MPI_Comm_split(made, 0, 0, &second));
    ok(MPI_Comm_compare(made, second, &result));
    check_equal(result, MPI_CONGRUENT);
    ok(MPI_Comm_free(&second));
    ok(MPI_Comm_free(&made));

    ok(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 3, 0, &made));
    check((made == MPI_COMM_NULL) == (rank == 0));
    if (rank > 0)
        ok(MPI_Comm_free(&made));
    check_class(MPI_Comm_split(MPI_COMM_WORLD, -1, 0, &made), MPI_ERR_ARG);

    /* All processes share the memory of one host. */
    ok(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, size - rank, MPI_INFO_NULL, &made));
    ok(MPI_Comm_size(made, &number));
    check_equal(number, size);
    ok(MPI_Comm_rank(made, &mine));
    check_equal(mine, size - 1 - rank);
    ok(MPI_Comm_free(&made));
    ok(MPI_Info_create(&info));
    ok(MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory"));
    ok(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &made));
    ok(MPI_Comm_compare(made, MPI_COMM_WORLD, &result));
    check_equal(result, MPI_CONGRUENT);
    ok(MPI_Comm_free(&made));
    ok(MPI_Info_set(info, "mpi_hw_resource_type", "no such hardware"));
    ok(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &made));
    check(made == MPI_COMM_NULL);
    ok(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, MPI_INFO_NULL, &made));
    check(made == MPI_COMM_NULL);
    /* A strictly smaller part of the hardware, or no communicator. */
    ok(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &made));
    if (made != MPI_COMM_NULL) {
        ok(MPI_Comm_size(made, &number));
        check(number < size);
        ok(MPI_Comm_free(&made));
    }
    ok(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &made));
    check(made == MPI_COMM_NULL);
    ok(MPI_Info_free(&info));
    ok(MPI_Errhandler_free(&errhandler));
    return finish();
}
