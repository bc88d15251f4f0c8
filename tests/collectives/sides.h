/* A buffer of a call: its blocks, their places in memory, and what the memory must hold afterwards. */
#ifndef FERRUM_COLLECTIVES_SIDES_H
#define FERRUM_COLLECTIVES_SIDES_H

#include "combine.h"
#include "table.h"

enum { MARGIN = 64, CANARY = 0xa5 };

/* One block; `source` and `slot` name its data: the process that sends it, and which of its blocks it is. */
struct block {
    const struct layout *layout;
    MPI_Count elements;
    MPI_Aint at; /* of the first element, from the address that the call is given */
    int source, slot;
    int holds; /* whether the data is there: before the call in what is sent, after it in what is received */
};

struct side {
    unsigned char *memory, *image;
    size_t bytes;
    void *address;
    int blocks;
    struct block block[MOST];
};

/* The order of blocks in memory. */
static inline void shuffle(int *order, int count, uint64_t *state)
{
    for (int i = 0; i < count; i++) {
        int j = (int)draw(state, (unsigned)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}

/* Puts the blocks, whose layouts and elements are known, into memory, and gives the lists of the call. */
static inline void place_blocks(struct side *side, enum lists lists, uint64_t *state, struct list *counts,
                                struct list *displacements, MPI_Datatype *datatypes)
{
    int order[MOST];
    MPI_Aint end = 0;
    shuffle(order, side->blocks, state);
    for (int i = 0; i < side->blocks; i++) {
        int at = lists == SAME ? i : order[i];
        struct block *block = &side->block[at];
        const struct layout *layout = block->layout;
        /* In elements; blocks of several types need room for items before their addresses. */
        MPI_Aint gap = lists == SAME ? 0 : (MPI_Aint)draw(state, 3), size = layout->extent * (MPI_Aint)block->elements;
        block->at = end + (lists == TYPES ? layout->item_bytes * (gap + 1) : gap * layout->extent);
        end = block->at + size;
        if (lists == SAME)
            continue;
        counts->small[at] = (int)block->elements;
        counts->large[at] = block->elements;
        displacements->bytes[at] = lists == TYPES ? block->at : block->at / layout->extent;
        displacements->small[at] = (int)displacements->bytes[at];
        if (lists == TYPES)
            datatypes[at] = layout->type;
    }
    side->bytes = (size_t)end + 2 * MARGIN;
    side->memory = malloc(side->bytes);
    side->image = malloc(side->bytes);
    if (side->memory == NULL || side->image == NULL)
        abort();
    side->address = end == 0 && draw(state, 2) ? NULL : side->memory + MARGIN;
}

static inline void free_side(struct side *side)
{
    free(side->memory);
    free(side->image);
    memset(side, 0, sizeof *side);
}

static inline void begin_side(struct side *side)
{
    memset(side->memory, CANARY, side->bytes);
    memset(side->image, CANARY, side->bytes);
}

/* The place of an item of a block in memory or in the image. */
static inline unsigned char *item_at(unsigned char *memory, const struct block *block, MPI_Count item)
{
    const struct layout *layout = block->layout;
    return memory + MARGIN + block->at + item / layout->items * layout->extent + layout->at[item % layout->items];
}

/* Writes the data of a block that is moved. */
static inline void write_block(unsigned char *memory, const struct block *block, uint64_t seed)
{
    MPI_Count items = block->elements * block->layout->items;
    int bytes = block->layout->item_bytes;
    for (MPI_Count i = 0; i < items; i++) {
        uint64_t word[LARGEST_ITEM / 8];
        word[0] = mixed(seed, (uint64_t)block->source << 8 | (uint64_t)block->slot, (uint64_t)i);
        for (int w = 1; w < bytes / 8; w++)
            word[w] = word[w - 1] * 0x9e3779b97f4a7c15u + 1;
        memcpy(item_at(memory, block, i), word, (size_t)bytes);
    }
}

/* Where the memory differs from its image: the offset from the address, or `LONG_MIN` where it does not. */
static inline long difference(const struct side *side)
{
    if (side->bytes == 0 || memcmp(side->memory, side->image, side->bytes) == 0)
        return INT64_MIN;
    size_t at = 0;
    while (side->memory[at] == side->image[at])
        at++;
    return (long)at - MARGIN;
}

#endif
