/* Scans and reductions that are scattered, in all forms: an operation that does not commute is applied in rank order;
 * in place, with derived types, with long vectors and none. */
#include "check.h"

enum { FORMS = 3 };

static MPI_Comm comm;
static MPI_Datatype map_type, spaced_type;
static MPI_Op compose_op;

typedef struct {
    unsigned a, b;
} Map;

typedef struct {
    Map map;
    unsigned gap;
} Spaced;

/* The map f, then g. */
static Map then(Map f, Map g)
{
    return (Map){g.a * f.a, g.a * f.b + g.b};
}

static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    MPI_Aint lower, extent;
    MPI_Type_get_extent(*type, &lower, &extent);
    for (int i = 0; i < *count; i++) {
        Map *f = (Map *)((char *)in + i * extent), *g = (Map *)((char *)inout + i * extent);
        *g = then(*f, *g);
    }
}

static Map own(int who, int place)
{
    return (Map){(unsigned)(2 * who + 3), (unsigned)(who * 7 + place)};
}

/* Of the ranks below `to`, in order. */
static Map combined(int to, int place)
{
    Map result = {1, 0};
    for (int who = 0; who < to; who++)
        result = then(result, own(who, place));
    return result;
}

static void check_map(Map got, Map wanted)
{
    check_equal(got.a, wanted.a);
    check_equal(got.b, wanted.b);
}

#define IN_ALL_FORMS(form, name, iname, init, ...)                                                                     \
    do {                                                                                                               \
        MPI_Request request;                                                                                           \
        if (form == 0) {                                                                                               \
            ok(name(__VA_ARGS__, comm));                                                                               \
        } else if (form == 1) {                                                                                        \
            ok(iname(__VA_ARGS__, comm, &request));                                                                    \
            ok(MPI_Wait(&request, MPI_STATUS_IGNORE));                                                                 \
        } else {                                                                                                       \
            ok(init(__VA_ARGS__, comm, MPI_INFO_NULL, &request));                                                      \
            ok(MPI_Start(&request));                                                                                   \
            ok(MPI_Wait(&request, MPI_STATUS_IGNORE));                                                                 \
            ok(MPI_Request_free(&request));                                                                            \
        }                                                                                                              \
    } while (0)

static void scans(int form, int n)
{
    Map *send = malloc((size_t)(n + 1) * sizeof *send), *recv = malloc((size_t)(n + 1) * sizeof *recv);
    Spaced *spaced = malloc((size_t)(n + 1) * sizeof *spaced);
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        for (int i = 0; i < n; i++) {
            send[i] = own(rank, i);
            recv[i] = (Map){99, 99};
            spaced[i] = (Spaced){own(rank, i), 12345};
        }
        if (exclusive)
            IN_ALL_FORMS(form, MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, send, recv, n, map_type, compose_op);
        else
            IN_ALL_FORMS(form, MPI_Scan, MPI_Iscan, MPI_Scan_init, send, recv, n, map_type, compose_op);
        if (exclusive)
            IN_ALL_FORMS(form, MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, MPI_IN_PLACE, spaced, n, spaced_type,
                         compose_op);
        else
            IN_ALL_FORMS(form, MPI_Scan, MPI_Iscan, MPI_Scan_init, MPI_IN_PLACE, spaced, n, spaced_type, compose_op);
        for (int i = 0; i < n; i++) {
            check_equal(spaced[i].gap, 12345);
            if (exclusive && rank == 0)
                continue;
            check_map(recv[i], combined(rank + !exclusive, i));
            check_map(spaced[i].map, combined(rank + !exclusive, i));
        }
    }
    free(send);
    free(recv);
    free(spaced);
}

static void scattered(int form, int n)
{
    int counts[size], before = 0, all = 0;
    for (int i = 0; i < size; i++) {
        counts[i] = (i * 2 + 1) % 3 * n;
        before += i < rank ? counts[i] : 0;
        all += counts[i];
    }
    size_t room = (size_t)all + (size_t)(n * size) + 1;
    Map *send = malloc(room * sizeof *send), *recv = malloc(room * sizeof *recv);
    Map *place = malloc(room * sizeof *place);
    for (int i = 0; i < all; i++)
        place[i] = send[i] = own(rank, i);
    IN_ALL_FORMS(form, MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, send, recv, counts, map_type,
                 compose_op);
    IN_ALL_FORMS(form, MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, MPI_IN_PLACE, place, counts,
                 map_type, compose_op);
    for (int i = 0; i < counts[rank]; i++) {
        check_map(recv[i], combined(size, before + i));
        check_map(place[i], combined(size, before + i));
    }
    for (int i = 0; i < n * size; i++)
        place[i] = send[i] = own(rank, i);
    IN_ALL_FORMS(form, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init, send, recv,
                 n, map_type, compose_op);
    IN_ALL_FORMS(form, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init,
                 MPI_IN_PLACE, place, n, map_type, compose_op);
    for (int i = 0; i < n; i++) {
        check_map(recv[i], combined(size, rank * n + i));
        check_map(place[i], combined(size, rank * n + i));
    }
    int *ones = malloc(room * sizeof *ones), *sums = malloc(room * sizeof *sums);
    for (int i = 0; i < n * size; i++)
        ones[i] = i + rank;
    IN_ALL_FORMS(form, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init, ones, sums,
                 n, MPI_INT, MPI_SUM);
    for (int i = 0; i < n; i++)
        check_equal(sums[i], (rank * n + i) * size + size * (size - 1) / 2);
    free(ones);
    free(sums);
    free(send);
    free(recv);
    free(place);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    ok(MPI_Type_contiguous(2, MPI_UNSIGNED, &map_type));
    ok(MPI_Type_commit(&map_type));
    ok(MPI_Type_create_resized(map_type, 0, sizeof(Spaced), &spaced_type));
    ok(MPI_Type_commit(&spaced_type));
    ok(MPI_Op_create(compose, 0, &compose_op));
    const int lengths[] = {0, 1, 5, 4000};
    for (int form = 0; form < FORMS; form++)
        for (int i = 0; i < 4; i++) {
            scans(form, lengths[i]);
            scattered(form, lengths[i]);
        }
    ok(MPI_Op_free(&compose_op));
    ok(MPI_Type_free(&map_type));
    ok(MPI_Type_free(&spaced_type));
    ok(MPI_Comm_free(&comm));
    return finish();
}
