/* Subarrays and distributed arrays: the elements of a part, found by loops over the whole array, in both orders. */
#include "layout.h"

enum { ELEMENT = 4 };

static int places[LAYOUT_MEMORY];

/* Whether element `index` of a dimension of `n` belongs to process `r` of `p`. */
static int belongs(int kind, int argument, int n, int p, int r, int index)
{
    if (kind == MPI_DISTRIBUTE_NONE)
        return 1;
    int block = argument;
    if (argument == MPI_DISTRIBUTE_DFLT_DARG)
        block = kind == MPI_DISTRIBUTE_BLOCK ? (n + p - 1) / p : 1;
    return index / block % p == r;
}

static void subarray(const int *n, const int *part, const int *start, int order, int large)
{
    MPI_Datatype type;
    MPI_Count n_c[3], part_c[3], start_c[3];
    for (int d = 0; d < 3; d++)
        n_c[d] = n[d], part_c[d] = part[d], start_c[d] = start[d];
    if (large)
        ok(MPI_Type_create_subarray_c(3, n_c, part_c, start_c, order, MPI_INT, &type));
    else
        ok(MPI_Type_create_subarray(3, n, part, start, order, MPI_INT, &type));
    MPI_Aint lb = -1, extent = -1;
    ok(MPI_Type_get_extent(type, &lb, &extent));
    check(lb == 0 && extent == ELEMENT * n[0] * n[1] * n[2]);
    ok(MPI_Type_commit(&type));
    int bytes = places_of(type, 1, places), at = 0;
    check_equal(bytes, ELEMENT * part[0] * part[1] * part[2]);
    int outer = order == MPI_ORDER_C ? 0 : 2, inner = 2 - outer;
    for (int i = 0; i < part[outer]; i++)
        for (int j = 0; j < part[1]; j++)
            for (int k = 0; k < part[inner]; k++, at += ELEMENT) {
                int row = (i + start[outer]) * n[1] + j + start[1];
                check_equal(places[at], ELEMENT * (row * n[inner] + k + start[inner]));
            }
    ok(MPI_Type_free(&type));
}

static void darray(const int *n, const int *kinds, const int *arguments, const int *grid, int order, int large)
{
    static char seen[LAYOUT_MEMORY];
    int processes = grid[0] * grid[1], all = n[0] * n[1], total = 0;
    memset(seen, 0, sizeof seen);
    for (int process = 0; process < processes; process++) {
        MPI_Datatype type;
        MPI_Count n_c[2] = {n[0], n[1]};
        int own[2] = {process / grid[1], process % grid[1]};
        if (large)
            ok(MPI_Type_create_darray_c(processes, process, 2, n_c, kinds, arguments, grid, order, MPI_INT, &type));
        else
            ok(MPI_Type_create_darray(processes, process, 2, n, kinds, arguments, grid, order, MPI_INT, &type));
        MPI_Aint lb = -1, extent = -1;
        ok(MPI_Type_get_extent(type, &lb, &extent));
        check(lb == 0 && extent == ELEMENT * all);
        ok(MPI_Type_commit(&type));
        int bytes = places_of(type, 1, places), at = 0;
        total += bytes;
        for (int place = 0; place < all; place++) {
            int index[2] = {place / n[1], place % n[1]};
            if (order == MPI_ORDER_FORTRAN)
                index[0] = place % n[0], index[1] = place / n[0];
            if (!belongs(kinds[0], arguments[0], n[0], grid[0], own[0], index[0]) ||
                !belongs(kinds[1], arguments[1], n[1], grid[1], own[1], index[1]))
                continue;
            check(at < bytes && places[at] == ELEMENT * place && !seen[place]);
            seen[place] = 1;
            at += ELEMENT;
        }
        check_equal(at, bytes);
        ok(MPI_Type_free(&type));
    }
    check_equal(total, ELEMENT * all);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return_errors();
    const int n[] = {4, 5, 6}, parts[][3] = {{2, 3, 4}, {4, 5, 6}, {1, 1, 1}, {4, 1, 6}, {2, 5, 6}};
    const int starts[][3] = {{1, 2, 0}, {0, 0, 0}, {3, 4, 5}, {0, 2, 0}, {1, 0, 0}};
    for (int i = 0; i < 5; i++)
        for (int form = 0; form < 4; form++)
            subarray(n, parts[i], starts[i], form / 2 ? MPI_ORDER_C : MPI_ORDER_FORTRAN, form % 2);

    const int sizes[] = {7, 10}, none = MPI_DISTRIBUTE_NONE, block = MPI_DISTRIBUTE_BLOCK;
    const int cyclic = MPI_DISTRIBUTE_CYCLIC, dflt = MPI_DISTRIBUTE_DFLT_DARG;
    const int cases[][6] = {/* kinds, arguments, grid */
                            {block, block, dflt, dflt, 2, 3}, {cyclic, cyclic, dflt, dflt, 3, 2},
                            {cyclic, cyclic, 2, 3, 2, 2},     {block, cyclic, 5, 4, 2, 3},
                            {none, block, dflt, dflt, 1, 4},  {cyclic, none, 3, dflt, 4, 1},
                            {block, block, 7, 3, 3, 4}};
    for (int i = 0; i < 7; i++)
        for (int form = 0; form < 4; form++)
            darray(sizes, cases[i], cases[i] + 2, cases[i] + 4, form / 2 ? MPI_ORDER_C : MPI_ORDER_FORTRAN, form % 2);
    return finish();
}
