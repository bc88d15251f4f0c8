/* Non-blocking collectives take MPI_IN_PLACE, derived datatypes, operations that do not commute, long data and none;
 * the types, operations and communicators that they use may be freed while they are under way. */
#include "check.h"

enum { LONG = 70000 };

/* Composition of x -> a x + b, modulo 2^32: associative, not commutative. */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    unsigned *f = in, *g = inout;
    (void)type;
    for (int i = 0; i < *count; i++, f += 2, g += 2) {
        unsigned a = g[0] * f[0], b = g[0] * f[1] + g[1];
        g[0] = a;
        g[1] = b;
    }
}

static void expected_map(unsigned *map, int i)
{
    map[0] = 1;
    map[1] = 0;
    for (int who = 0; who < size; who++) {
        unsigned next[2] = {(unsigned)(2 * who + 3), (unsigned)(who + i)}, by[2] = {map[0], map[1]};
        map[0] = next[0] * by[0];
        map[1] = next[0] * by[1] + next[1];
    }
}

static void maps(int count)
{
    MPI_Datatype pair;
    MPI_Op op;
    MPI_Comm comm;
    MPI_Request requests[3];
    unsigned *own = malloc((size_t)count * 2 * sizeof *own + 1), *all = malloc((size_t)count * 2 * sizeof *all + 1);
    unsigned *place = malloc((size_t)count * 2 * sizeof *place + 1), *one = malloc((size_t)count * 2 * sizeof *one + 1);
    for (int i = 0; i < count; i++) {
        place[2 * i] = own[2 * i] = (unsigned)(2 * rank + 3);
        place[2 * i + 1] = own[2 * i + 1] = (unsigned)(rank + i);
    }
    ok(MPI_Type_contiguous(2, MPI_UNSIGNED, &pair));
    ok(MPI_Type_commit(&pair));
    ok(MPI_Op_create(compose, 0, &op));
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    ok(MPI_Iallreduce(own, all, count, pair, op, comm, &requests[0]));
    ok(MPI_Iallreduce(MPI_IN_PLACE, place, count, pair, op, comm, &requests[1]));
    ok(MPI_Ireduce(own, one, count, pair, op, size - 1, comm, &requests[2]));
    ok(MPI_Type_free(&pair));
    ok(MPI_Op_free(&op));
    ok(MPI_Comm_free(&comm));
    ok(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < count; i++) {
        unsigned map[2];
        expected_map(map, i);
        check(all[2 * i] == map[0] && all[2 * i + 1] == map[1]);
        check(place[2 * i] == map[0] && place[2 * i + 1] == map[1]);
        if (rank == size - 1)
            check(one[2 * i] == map[0] && one[2 * i + 1] == map[1]);
    }
    free(own);
    free(all);
    free(place);
    free(one);
}

/* Every second element, on one side or both. */
static void strided(int count)
{
    MPI_Datatype every_second, two;
    MPI_Request requests[4];
    size_t room = (size_t)size * (size_t)count * 2 + 2;
    int *send = malloc(room * sizeof *send), *recv = malloc(room * sizeof *recv);
    int *gathered = malloc(room * sizeof *recv), *data = malloc(room * sizeof *data);
    for (size_t i = 0; i < room; i++) {
        send[i] = rank * 1000000 + (int)i;
        data[i] = rank == 0 ? (int)i : -7;
        recv[i] = gathered[i] = -7;
    }
    ok(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_second));
    ok(MPI_Type_commit(&every_second));
    ok(MPI_Type_vector(2, 1, 2, MPI_INT, &two));
    ok(MPI_Type_commit(&two));
    ok(MPI_Ialltoall(send, count, every_second, recv, count, MPI_INT, MPI_COMM_WORLD, &requests[0]));
    ok(MPI_Igather(send, count, MPI_INT, rank == 0 ? gathered : NULL, count, every_second, 0, MPI_COMM_WORLD,
                   &requests[1]));
    ok(MPI_Ibcast(data, count, every_second, 0, MPI_COMM_WORLD, &requests[2]));
    ok(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, NULL, 0, MPI_INT, MPI_COMM_WORLD, &requests[3]));
    ok(MPI_Type_free(&every_second));
    ok(MPI_Type_free(&two));
    ok(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < size * count; i++) {
        check_equal(recv[i], i / count * 1000000 + (rank * count + i % count) * 2);
        check_equal(gathered[2 * i], rank == 0 ? i / count * 1000000 + i % count : -7);
        check_equal(gathered[2 * i + 1], -7);
    }
    for (int i = 0; i < count; i++) {
        check_equal(data[2 * i], 2 * i);
        check_equal(data[2 * i + 1], rank == 0 ? 2 * i + 1 : -7);
    }
    free(send);
    free(recv);
    free(gathered);
    free(data);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const int counts[] = {0, 1, 3, 900, LONG};
    for (int i = 0; i < 5; i++) {
        maps(counts[i]);
        strided(counts[i]);
    }
    return finish();
}
