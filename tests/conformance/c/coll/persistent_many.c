/* Many persistent reductions, broadcasts and exchanges of short and long data at once, of which each process starts all
 * in an order of its own, for several rounds; requests are freed and others made, so that what they hold is used
 * again. */
#include "check.h"

enum { REQUESTS = 60, ROUNDS = 6, GENERATIONS = 4 };

static const int lengths[] = {1, 5, 7, 300, 3000, 40000};

static int *send[REQUESTS], *recv[REQUESTS], length[REQUESTS];

static int value(int round, int request, int who, int place)
{
    return round * 7919 + request * 101 + who * 13 + place % 997;
}

static MPI_Request make(int request)
{
    MPI_Request made = MPI_REQUEST_NULL;
    int n = length[request], *in = send[request], *out = recv[request];
    switch (request % 3) {
    case 0:
        ok(MPI_Allreduce_init(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &made));
        break;
    case 1:
        ok(MPI_Bcast_init(out, n, MPI_INT, request % size, MPI_COMM_WORLD, MPI_INFO_NULL, &made));
        break;
    default:
        ok(MPI_Alltoall_init(in, n, MPI_INT, out, n, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &made));
    }
    return made;
}

static void set_data(int round, int request)
{
    int root = request % size;
    for (int i = 0; i < size * length[request]; i++) {
        send[request][i] = value(round, request, rank, i);
        recv[request][i] = request % 3 == 1 && rank == root ? value(round, request, root, i) : -1;
    }
}

static void compare(int round, int request)
{
    int n = length[request];
    for (int i = 0; i < n; i++) {
        int sum = 0;
        for (int who = 0; who < size; who++)
            sum += value(round, request, who, i);
        if (request % 3 == 0)
            check_equal(recv[request][i], sum);
        if (request % 3 == 1)
            check_equal(recv[request][i], value(round, request, request % size, i));
        for (int who = 0; request % 3 == 2 && who < size; who++)
            check_equal(recv[request][who * n + i], value(round, request, who, rank * n + i));
    }
}

int main(int argc, char **argv)
{
    MPI_Request requests[REQUESTS];
    begin(&argc, &argv);
    for (int request = 0; request < REQUESTS; request++) {
        length[request] = lengths[request / 3 % (int)(sizeof lengths / sizeof *lengths)];
        send[request] = malloc((size_t)size * (size_t)length[request] * sizeof(int));
        recv[request] = malloc((size_t)size * (size_t)length[request] * sizeof(int));
        requests[request] = make(request);
    }
    for (int generation = 0; generation < GENERATIONS; generation++) {
        for (int round = 0; round < ROUNDS; round++) {
            for (int request = 0; request < REQUESTS; request++)
                set_data(round, request);
            /* Rank r begins with another request, and odd ranks go backwards. */
            for (int i = 0; i < REQUESTS; i++) {
                int place = (i + rank * 17 + round * 5) % REQUESTS;
                ok(MPI_Start(&requests[rank % 2 ? REQUESTS - 1 - place : place]));
            }
            ok(MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE));
            for (int request = 0; request < REQUESTS; request++)
                compare(round, request);
        }
        for (int request = generation % 2; request < REQUESTS; request += 2)
            ok(MPI_Request_free(&requests[request]));
        for (int request = generation % 2; request < REQUESTS; request += 2)
            requests[request] = make(request);
    }
    for (int request = 0; request < REQUESTS; request++) {
        ok(MPI_Request_free(&requests[request]));
        free(send[request]);
        free(recv[request]);
    }
    return finish();
}
