/* Each rank sends itself a message over a communicator named "solver", sets the name of the predefined one, which
 * keeps its name in reports, and counts its rank plus one in a variable of its own. */
#include <ferrum_tool.h>
#include <mpi.h>

int main(int argc, char **argv)
{
    struct ferrum_tool_variable new = {.size = sizeof new, .name = "late_things", .unit = "things",
                                       .category = "plugin", .pvar_class = MPI_T_PVAR_CLASS_COUNTER,
                                       .datatype = MPI_UNSIGNED_LONG_LONG, .count = 1};
    uint64_t *things;
    MPI_Comm comm;
    int rank, word = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "first");
    MPI_Comm_set_name(comm, "solver");
    MPI_Comm_set_name(MPI_COMM_WORLD, "world");
    MPI_Sendrecv(&word, 1, MPI_INT, rank, 0, &word, 1, MPI_INT, rank, 0, comm, MPI_STATUS_IGNORE);
    if (ferrum_tool_add(&new, &things) != MPI_SUCCESS)
        return 1;
    *things = rank + 1;
    MPI_Finalize();
    return 0;
}
