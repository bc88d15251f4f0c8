/* A datatype's data bytes, found by sending: packs one element of memory in which each byte has its own number. */
#ifndef FERRUM_LAYOUT_H
#define FERRUM_LAYOUT_H

#include "check.h"

enum { LAYOUT_MEMORY = 8192, LAYOUT_ZERO = 4096 };

/* The packed bytes of `count` elements, as offsets from the buffer's address, go to `places`; returns their number. */
static inline int places_of(MPI_Datatype type, int count, int *places)
{
    static unsigned char low[LAYOUT_MEMORY], high[LAYOUT_MEMORY], first[LAYOUT_MEMORY], second[LAYOUT_MEMORY];
    int position = 0, again = 0;
    for (int i = 0; i < LAYOUT_MEMORY; i++) {
        low[i] = (unsigned char)(i & 0xff);
        high[i] = (unsigned char)(i >> 8);
    }
    ok(MPI_Pack(low + LAYOUT_ZERO, count, type, first, LAYOUT_MEMORY, &position, MPI_COMM_SELF));
    ok(MPI_Pack(high + LAYOUT_ZERO, count, type, second, LAYOUT_MEMORY, &again, MPI_COMM_SELF));
    check_equal(position, again);
    for (int i = 0; i < position; i++)
        places[i] = first[i] + (second[i] << 8) - LAYOUT_ZERO;
    return position;
}

/* Commits the type, checks size, bounds and the places of its data bytes, and frees it. `blocks` are pairs of offset
 * and length in bytes, in the order of the type map. */
static inline void expect_layout(MPI_Datatype type, MPI_Aint lb, MPI_Aint extent, int count, const int (*blocks)[2])
{
    static int places[LAYOUT_MEMORY];
    MPI_Aint is_lb = -1, is_extent = -1, true_lb = -1, true_extent = -1;
    MPI_Count lb_x = -1, extent_x = -1, lb_c = -1, extent_c = -1, size_x = -1, size_c = -1;
    int size = 0, is_size = -1, low = 0, high = 0, at = 0;
    for (int i = 0; i < count; i++) {
        if (blocks[i][1] == 0)
            continue;
        low = size == 0 || blocks[i][0] < low ? blocks[i][0] : low;
        high = size == 0 || blocks[i][0] + blocks[i][1] > high ? blocks[i][0] + blocks[i][1] : high;
        size += blocks[i][1];
    }
    ok(MPI_Type_commit(&type));
    ok(MPI_Type_get_extent(type, &is_lb, &is_extent));
    check_equal(is_lb, lb);
    check_equal(is_extent, extent);
    ok(MPI_Type_get_extent_x(type, &lb_x, &extent_x));
    ok(MPI_Type_get_extent_c(type, &lb_c, &extent_c));
    check(lb_x == lb && extent_x == extent && lb_c == lb && extent_c == extent);
    ok(MPI_Type_get_true_extent(type, &true_lb, &true_extent));
    check_equal(true_lb, low);
    check_equal(true_extent, high - low);
    ok(MPI_Type_get_true_extent_x(type, &lb_x, &extent_x));
    ok(MPI_Type_get_true_extent_c(type, &lb_c, &extent_c));
    check(lb_x == low && extent_x == high - low && lb_c == low && extent_c == high - low);
    ok(MPI_Type_size(type, &is_size));
    ok(MPI_Type_size_x(type, &size_x));
    ok(MPI_Type_size_c(type, &size_c));
    check_equal(is_size, size);
    check(size_x == size && size_c == size);
    check_equal(places_of(type, 1, places), size);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < blocks[i][1]; j++, at++)
            check_equal(places[at], blocks[i][0] + j);
    ok(MPI_Type_free(&type));
    check(type == MPI_DATATYPE_NULL);
}

#define LAYOUT(type, lb, extent, ...)                                                                                  \
    do {                                                                                                               \
        const int blocks[][2] = {__VA_ARGS__};                                                                         \
        expect_layout(type, lb, extent, (int)(sizeof blocks / sizeof blocks[0]), blocks);                              \
    } while (0)

#endif
