/* Of the posted receives that fit a message, the one posted first gets it, wildcards or not. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    /* What each posted receive matches, and which of the messages (tags 1, 2, 1, 2, 3, 1
     * in this order) it must get. */
    static const struct { int source, tag, gets; } posted[] = {
        {0, 2, 1}, {MPI_ANY_SOURCE, MPI_ANY_TAG, 0}, {MPI_ANY_SOURCE, 1, 2}, {0, MPI_ANY_TAG, 3}, {0, 1, 5}, {0, 3, 4}};
    static const int tags[] = {1, 2, 1, 2, 3, 1};
    int values[6] = {-1, -1, -1, -1, -1, -1};
    MPI_Request requests[6];
    MPI_Status statuses[6];
    if (rank == 1) {
        for (int i = 0; i < 6; i++)
            ok(MPI_Irecv(&values[i], 1, MPI_INT, posted[i].source, posted[i].tag, MPI_COMM_WORLD, &requests[i]));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        for (int i = 0; i < 6; i++)
            ok(MPI_Send(&i, 1, MPI_INT, 1, tags[i], MPI_COMM_WORLD));
    } else if (rank == 1) {
        ok(MPI_Waitall(6, requests, statuses));
        for (int i = 0; i < 6; i++) {
            check_equal(values[i], posted[i].gets);
            check_equal(statuses[i].MPI_TAG, tags[values[i] % 6]);
        }
    }
    return finish();
}
