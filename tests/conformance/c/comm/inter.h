/* Intercommunicators for tests: the processes of MPI_COMM_WORLD in two groups, and what is expected of both sides. */
#include "check.h"

/* The side of a rank of MPI_COMM_WORLD: 1 for every third one from rank 1, else 0; 2 ranks have both sides. */
static inline int side_of(int world_rank)
{
    return world_rank % 3 == 1;
}

/* Number of ranks of a side. */
static inline int count_of(int side)
{
    int count = 0;
    for (int i = 0; i < size; i++)
        count += side_of(i) == side;
    return count;
}

/* Rank in MPI_COMM_WORLD of a rank of a side. */
static inline int world_rank_of(int side, int mine)
{
    for (int i = 0; i < size; i++)
        if (side_of(i) == side && mine-- == 0)
            return i;
    return -1;
}

/* The communicator of this process's side. */
static inline MPI_Comm own_side(void)
{
    MPI_Comm own;
    ok(MPI_Comm_split(MPI_COMM_WORLD, side_of(rank), 0, &own));
    return own;
}

/* An intercommunicator of both sides; its leaders are the last ranks of their sides, not the first. */
static inline MPI_Comm two_sides(int tag)
{
    MPI_Comm own = own_side(), inter = MPI_COMM_NULL;
    int side = side_of(rank), last = count_of(side) - 1;
    ok(MPI_Intercomm_create(own, last, MPI_COMM_WORLD, world_rank_of(!side, count_of(!side) - 1), tag, &inter));
    ok(MPI_Comm_free(&own));
    return inter;
}

/* A number from each process of the one side to each of the other. */
static inline void all_to_all_remote(MPI_Comm inter, int number)
{
    int mine, others, local;
    ok(MPI_Comm_rank(inter, &mine));
    ok(MPI_Comm_size(inter, &local));
    ok(MPI_Comm_remote_size(inter, &others));
    MPI_Request *requests = malloc(sizeof *requests * others);
    int *sent = malloc(sizeof *sent * others);
    for (int i = 0; i < others; i++) {
        sent[i] = number * 10000 + mine * 100 + i;
        ok(MPI_Isend(&sent[i], 1, MPI_INT, i, number, inter, &requests[i]));
    }
    for (int i = 0; i < others; i++) {
        int value = -1;
        MPI_Status status;
        ok(MPI_Recv(&value, 1, MPI_INT, i, number, inter, &status));
        check_equal(value, number * 10000 + i * 100 + mine);
        check_equal(status.MPI_SOURCE, i);
    }
    ok(MPI_Waitall(others, requests, MPI_STATUSES_IGNORE));
    free(requests);
    free(sent);
}
