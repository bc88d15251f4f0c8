/* The operations: what a predefined one makes of two elements, and operations of the program on elements of two
 * numbers, one of which does not commute. */
#ifndef FERRUM_COLLECTIVES_COMBINE_H
#define FERRUM_COLLECTIVES_COMBINE_H

#include "layouts.h"
#include "numbers.h"

enum what { SUM, PROD, MIN, MAX, BAND, BOR, BXOR, LAND, LOR, LXOR, MINLOC, MAXLOC, AFFINE, ADD, WHATS };

#define BIT(what) (1u << (what))
#define ARITHMETIC (BIT(SUM) | BIT(PROD))
#define ORDERS (BIT(MIN) | BIT(MAX))
#define BITWISE (BIT(BAND) | BIT(BOR) | BIT(BXOR))
#define LOGIC (BIT(LAND) | BIT(LOR) | BIT(LXOR))

/* The operations that are defined on a class. */
static const unsigned defined[] = {ARITHMETIC | ORDERS | BITWISE | LOGIC, ARITHMETIC | ORDERS | BITWISE,
                                   ARITHMETIC | ORDERS, ARITHMETIC, LOGIC, BITWISE, BIT(MINLOC) | BIT(MAXLOC)};

static struct {
    const char *name;
    MPI_Op handle; /* of AFFINE and ADD since `make_operations` */
} operations[WHATS] = {
    {"sum", MPI_SUM},   {"prod", MPI_PROD}, {"min", MPI_MIN},   {"max", MPI_MAX},       {"band", MPI_BAND},
    {"bor", MPI_BOR},   {"bxor", MPI_BXOR}, {"land", MPI_LAND}, {"lor", MPI_LOR},       {"lxor", MPI_LXOR},
    {"minloc", MPI_MINLOC}, {"maxloc", MPI_MAXLOC}, {"affine", MPI_OP_NULL}, {"add", MPI_OP_NULL},
};

/* The operations of the program in the form that large-count calls may take, too. */
static MPI_Op large_affine = MPI_OP_NULL, large_add = MPI_OP_NULL;

static inline struct number combine_whole(enum what what, wide a, wide b)
{
    wide_unsigned x = (wide_unsigned)a, y = (wide_unsigned)b;
    wide result = what == SUM    ? (wide)(x + y)
                  : what == PROD ? (wide)(x * y)
                  : what == MIN  ? (a < b ? a : b)
                  : what == MAX  ? (a > b ? a : b)
                  : what == BAND ? (a & b)
                  : what == BOR  ? (a | b)
                  : what == BXOR ? (a ^ b)
                  : what == LAND ? (a && b)
                  : what == LOR  ? (a || b)
                                 : (!a != !b);
    return (struct number){result, 0, 0};
}

/* a op b, of elements of a predefined type. */
static inline struct number combine(enum class class, enum what what, struct number a, struct number b)
{
    quad x = a.real, y = b.real;
    switch (class) {
    case COMPLEX:
        if (what == SUM)
            return (struct number){0, x + y, a.second + b.second};
        return (struct number){0, x * y - a.second * b.second, x * b.second + a.second * y};
    case REAL:
        return (struct number){0, what == SUM ? x + y : what == PROD ? x * y : (what == MIN) == (x < y) ? x : y, 0};
    case PAIR:
        if (x == y)
            return a.second < b.second ? a : b;
        return (what == MINLOC) == (x < y) ? a : b;
    default:
        return combine_whole(what, a.whole, b.whole);
    }
}

/* An element that any number of ranks can combine without rounding. */
static inline struct number element(const struct type *type, enum what what, uint64_t seed)
{
    static const int factors[] = {1, -1, 2, 1};
    int small = (int)(seed % 9) - 4;
    switch (type->class) {
    case COMPLEX:
        return what == PROD ? (struct number){0, factors[seed % 4], seed % 8 == 5}
                            : (struct number){0, small, (int)(seed / 9 % 9)};
    case REAL:
        return (struct number){0, what == PROD ? factors[seed % 4] : small, 0};
    case PAIR:
        return (struct number){0, (int)(seed % 3), (int)(seed / 3 % 100)};
    case LOGICAL:
        return (struct number){seed % 4 != 0, 0, 0};
    default:
        return (struct number){what == SUM || what == PROD ? small : (wide)(seed * 0x9e3779b97f4a7c15u), 0, 0};
    }
}

/* Two numbers combined: x -> a x + b after the lower ranks' function, or sums. */
static inline void combine_two(enum what what, const uint32_t lower[2], uint32_t higher[2])
{
    if (what == ADD) {
        higher[0] += lower[0];
        higher[1] += lower[1];
    } else {
        higher[1] += higher[0] * lower[1];
        higher[0] *= lower[0];
    }
}

static inline void combine_elements(enum what what, void *in, void *inout, MPI_Count count, MPI_Datatype handle)
{
    const struct layout *layout = layout_of(handle);
    CHECK(layout != NULL && layout->items == 2, "an operation of the program gets datatype %lx",
          (unsigned long)(intptr_t)handle);
    for (MPI_Count i = 0; layout != NULL && i < count; i++) {
        uint32_t lower[2], higher[2];
        char *from = (char *)in + i * layout->extent, *to = (char *)inout + i * layout->extent;
        for (int item = 0; item < 2; item++) {
            memcpy(&lower[item], from + layout->at[item], 4);
            memcpy(&higher[item], to + layout->at[item], 4);
        }
        combine_two(what, lower, higher);
        for (int item = 0; item < 2; item++)
            memcpy(to + layout->at[item], &higher[item], 4);
    }
}

static void affine(void *in, void *inout, int *count, MPI_Datatype *type)
{
    combine_elements(AFFINE, in, inout, *count, *type);
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    combine_elements(ADD, in, inout, *count, *type);
}

#ifdef HAS_Op_create_c
static void affine_c(void *in, void *inout, MPI_Count *count, MPI_Datatype *type)
{
    combine_elements(AFFINE, in, inout, *count, *type);
}

static void add_c(void *in, void *inout, MPI_Count *count, MPI_Datatype *type)
{
    combine_elements(ADD, in, inout, *count, *type);
}
#endif

static inline void make_operations(void)
{
    OK(MPI_Op_create(affine, 0, &operations[AFFINE].handle));
    OK(MPI_Op_create(add, 1, &operations[ADD].handle));
#ifdef HAS_Op_create_c
    OK(MPI_Op_create_c(affine_c, 0, &large_affine));
    OK(MPI_Op_create_c(add_c, 1, &large_add));
#endif
}

static inline void free_operations(void)
{
    MPI_Op *made[] = {&operations[AFFINE].handle, &operations[ADD].handle, &large_affine, &large_add};
    for (unsigned i = 0; i < LENGTH(made); i++)
        if (*made[i] != MPI_OP_NULL)
            OK(MPI_Op_free(made[i]));
}

#endif
