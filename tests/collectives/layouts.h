/* Layouts: derived datatypes of items of one predefined type, with the places of the items. */
#ifndef FERRUM_COLLECTIVES_LAYOUTS_H
#define FERRUM_COLLECTIVES_LAYOUTS_H

#include "base.h"

struct layout {
    MPI_Datatype type;
    int items, item_bytes;
    MPI_Aint at[3];  /* the items in the order of the type map */
    MPI_Aint extent; /* of the whole datatype */
};

/* Items of a message come in units of as many, which is a whole number of elements of each layout. */
enum { UNIT = 6, LAYOUTS = 6, LARGEST_ITEM = 32 };

static struct layout *all_layouts;
static unsigned layout_count;

static inline const struct layout *layout_of(MPI_Datatype type)
{
    for (unsigned i = 0; i < layout_count; i++)
        if (all_layouts[i].type == type)
            return &all_layouts[i];
    return NULL;
}

/* A type whose items lie at `at`, in this order. */
static inline MPI_Datatype placed(MPI_Datatype item, int items, const MPI_Aint *at, MPI_Aint lower, MPI_Aint extent)
{
    MPI_Datatype gaps, resized;
    OK(MPI_Type_create_hindexed_block(items, 1, at, item, &gaps));
    OK(MPI_Type_create_resized(gaps, lower, extent, &resized));
    OK(MPI_Type_commit(&resized));
    OK(MPI_Type_free(&gaps));
    return resized;
}

/* The layouts of an item: the type itself; three in a row; two with a gap, from a vector; two in reverse order; two
 * around the address of the buffer; two in a row. */
static inline void make_layouts(struct layout *out, MPI_Datatype item, int bytes)
{
    const MPI_Aint s = bytes;
    const struct layout all[LAYOUTS] = {
        {item, 1, bytes, {0}, s},           {item, 3, bytes, {0, s, 2 * s}, 3 * s}, {item, 2, bytes, {0, 2 * s}, 3 * s},
        {item, 2, bytes, {2 * s, 0}, 4 * s}, {item, 2, bytes, {-s, s}, 3 * s},       {item, 2, bytes, {0, s}, 2 * s},
    };
    memcpy(out, all, sizeof all);
    OK(MPI_Type_contiguous(3, item, &out[1].type));
    OK(MPI_Type_commit(&out[1].type));
    OK(MPI_Type_vector(2, 1, 2, item, &out[2].type));
    OK(MPI_Type_commit(&out[2].type));
    out[3].type = placed(item, 2, out[3].at, 0, 4 * s);
    out[4].type = placed(item, 2, out[4].at, -s, 3 * s);
    OK(MPI_Type_contiguous(2, item, &out[5].type));
    OK(MPI_Type_commit(&out[5].type));
}

static inline void free_layouts(void)
{
    for (unsigned i = 0; i < layout_count; i++)
        if (i % LAYOUTS != 0)
            OK(MPI_Type_free(&all_layouts[i].type));
    free(all_layouts);
}

#endif
