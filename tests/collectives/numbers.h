/* The predefined types: elements as numbers.
 *
 * An element is loaded from memory, combined, and stored again, so that integers wrap around where their type does. */
#ifndef FERRUM_COLLECTIVES_NUMBERS_H
#define FERRUM_COLLECTIVES_NUMBERS_H

#include "base.h"

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 wide_unsigned;
__extension__ typedef _Float16 half;
__extension__ typedef __float128 quad;

/* Part of an element: letter and bits; F80 is a long double, in 16 bytes. */
enum part { NONE, I8, I16, I32, I64, I128, U8, U16, U32, U64, F16, F32, F64, F80, F128 };

static const struct {
    int bytes, is_signed, is_real;
} parts[] = {{0, 0, 0}, {1, 1, 0}, {2, 1, 0}, {4, 1, 0}, {8, 1, 0}, {16, 1, 0}, {1, 0, 0}, {2, 0, 0},
             {4, 0, 0}, {8, 0, 0}, {2, 1, 1}, {4, 1, 1}, {8, 1, 1}, {16, 1, 1}, {16, 1, 1}};

/* What operations are defined on a type. */
enum class { C_INTEGER, INTEGER, REAL, COMPLEX, LOGICAL, BITS, PAIR };

struct type {
    const char *name;
    MPI_Datatype handle;
    enum class class;
    enum part first, second;
    int second_at, extent;
};

#define ONE(class, handle, part, bytes) {#handle, handle, class, part, NONE, 0, bytes}
#define TWO(class, handle, first, second, at, extent) {#handle, handle, class, first, second, at, extent}

static struct type types[] = {
    ONE(C_INTEGER, MPI_INT, I32, 4), ONE(REAL, MPI_DOUBLE, F64, 8), ONE(REAL, MPI_FLOAT, F32, 4),
    ONE(C_INTEGER, MPI_SHORT, I16, 2), ONE(C_INTEGER, MPI_LONG, I64, 8), ONE(C_INTEGER, MPI_LONG_LONG, I64, 8),
    ONE(C_INTEGER, MPI_SIGNED_CHAR, I8, 1), ONE(C_INTEGER, MPI_UNSIGNED_CHAR, U8, 1),
    ONE(C_INTEGER, MPI_UNSIGNED_SHORT, U16, 2), ONE(C_INTEGER, MPI_UNSIGNED, U32, 4),
    ONE(C_INTEGER, MPI_UNSIGNED_LONG, U64, 8), ONE(C_INTEGER, MPI_UNSIGNED_LONG_LONG, U64, 8),
    ONE(C_INTEGER, MPI_INT8_T, I8, 1), ONE(C_INTEGER, MPI_INT16_T, I16, 2), ONE(C_INTEGER, MPI_INT32_T, I32, 4),
    ONE(C_INTEGER, MPI_INT64_T, I64, 8), ONE(C_INTEGER, MPI_UINT8_T, U8, 1), ONE(C_INTEGER, MPI_UINT16_T, U16, 2),
    ONE(C_INTEGER, MPI_UINT32_T, U32, 4), ONE(C_INTEGER, MPI_UINT64_T, U64, 8), ONE(INTEGER, MPI_AINT, I64, 8),
    ONE(INTEGER, MPI_OFFSET, I64, 8), ONE(INTEGER, MPI_COUNT, I64, 8), ONE(BITS, MPI_BYTE, U8, 1),
    ONE(REAL, MPI_LONG_DOUBLE, F80, 16), ONE(LOGICAL, MPI_C_BOOL, U8, 1), ONE(LOGICAL, MPI_CXX_BOOL, U8, 1),
    TWO(COMPLEX, MPI_C_FLOAT_COMPLEX, F32, F32, 4, 8), TWO(COMPLEX, MPI_C_DOUBLE_COMPLEX, F64, F64, 8, 16),
    TWO(COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX, F80, F80, 16, 32), TWO(COMPLEX, MPI_CXX_FLOAT_COMPLEX, F32, F32, 4, 8),
    TWO(COMPLEX, MPI_CXX_DOUBLE_COMPLEX, F64, F64, 8, 16), TWO(COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX, F80, F80, 16, 32),
    ONE(INTEGER, MPI_INTEGER, I32, 4), ONE(REAL, MPI_REAL, F32, 4), ONE(REAL, MPI_DOUBLE_PRECISION, F64, 8),
    TWO(COMPLEX, MPI_COMPLEX, F32, F32, 4, 8), TWO(COMPLEX, MPI_DOUBLE_COMPLEX, F64, F64, 8, 16),
    ONE(LOGICAL, MPI_LOGICAL, U32, 4), ONE(INTEGER, MPI_INTEGER1, I8, 1), ONE(INTEGER, MPI_INTEGER2, I16, 2),
    ONE(INTEGER, MPI_INTEGER4, I32, 4), ONE(INTEGER, MPI_INTEGER8, I64, 8), ONE(INTEGER, MPI_INTEGER16, I128, 16),
    ONE(REAL, MPI_REAL2, F16, 2), ONE(REAL, MPI_REAL4, F32, 4), ONE(REAL, MPI_REAL8, F64, 8),
    ONE(REAL, MPI_REAL16, F128, 16), TWO(COMPLEX, MPI_COMPLEX4, F16, F16, 2, 4),
    TWO(COMPLEX, MPI_COMPLEX8, F32, F32, 4, 8), TWO(COMPLEX, MPI_COMPLEX16, F64, F64, 8, 16),
    TWO(COMPLEX, MPI_COMPLEX32, F128, F128, 16, 32), ONE(LOGICAL, MPI_LOGICAL1, U8, 1),
    ONE(LOGICAL, MPI_LOGICAL2, U16, 2), ONE(LOGICAL, MPI_LOGICAL4, U32, 4), ONE(LOGICAL, MPI_LOGICAL8, U64, 8),
    ONE(LOGICAL, MPI_LOGICAL16, I128, 16), TWO(PAIR, MPI_FLOAT_INT, F32, I32, 4, 8),
    TWO(PAIR, MPI_DOUBLE_INT, F64, I32, 8, 16), TWO(PAIR, MPI_LONG_INT, I64, I32, 8, 16),
    TWO(PAIR, MPI_2INT, I32, I32, 4, 8), TWO(PAIR, MPI_SHORT_INT, I16, I32, 4, 8),
    TWO(PAIR, MPI_LONG_DOUBLE_INT, F80, I32, 16, 32), TWO(PAIR, MPI_2REAL, F32, F32, 4, 8),
    TWO(PAIR, MPI_2DOUBLE_PRECISION, F64, F64, 8, 16), TWO(PAIR, MPI_2INTEGER, I32, I32, 4, 8),
};
static unsigned type_count = LENGTH(types);

/* An element; integers and logical values are `whole`. */
struct number {
    wide whole;
    quad real, second;
};

static inline wide load_whole(const unsigned char *at, enum part part)
{
    wide value = 0;
    memcpy(&value, at, (size_t)parts[part].bytes);
    int unused = 128 - 8 * parts[part].bytes;
    return parts[part].is_signed ? (wide)((wide_unsigned)value << unused) >> unused : value;
}

#define AS(T)                                                                                                          \
    {                                                                                                                  \
        T value;                                                                                                       \
        memcpy(&value, at, sizeof value);                                                                              \
        return (quad)value;                                                                                            \
    }

static inline quad load_part(const unsigned char *at, enum part part)
{
    switch (part) {
    case F16: {
        half value;
        memcpy(&value, at, sizeof value);
        return (quad)(float)value;
    }
    case F32:
        AS(float)
    case F64:
        AS(double)
    case F80:
        AS(long double)
    case F128:
        AS(quad)
    default:
        return (quad)load_whole(at, part);
    }
}

static inline void store_part(unsigned char *at, enum part part, quad value)
{
    half h = (half)(float)value;
    float f = (float)value;
    double d = (double)value;
    long double l = (long double)value;
    wide whole = parts[part].is_real ? 0 : (wide)value;
    const void *from = part == F16   ? (const void *)&h
                       : part == F32 ? (const void *)&f
                       : part == F64 ? (const void *)&d
                       : part == F80 ? (const void *)&l
                                     : (const void *)&value;
    memcpy(at, parts[part].is_real ? from : &whole, part == F80 ? 10 : (size_t)parts[part].bytes);
}

static inline struct number load(const struct type *type, const void *memory)
{
    const unsigned char *at = memory;
    struct number number = {0, 0, 0};
    if (type->class == REAL || type->class == COMPLEX || type->class == PAIR)
        number.real = load_part(at, type->first);
    else
        number.whole = load_whole(at, type->first);
    if (type->class == LOGICAL)
        number.whole = number.whole != 0;
    if (type->second != NONE)
        number.second = load_part(at + type->second_at, type->second);
    return number;
}

/* Stores an element; bytes between its parts are left as they are. */
static inline void store(const struct type *type, void *memory, struct number number)
{
    unsigned char *at = memory;
    if (type->class == REAL || type->class == COMPLEX || type->class == PAIR)
        store_part(at, type->first, number.real);
    else
        memcpy(at, &number.whole, (size_t)parts[type->first].bytes);
    if (type->second != NONE)
        store_part(at + type->second_at, type->second, number.second);
}

/* Whether an element has bytes that hold no data, which an operation may change. */
static inline int padded(const struct type *type)
{
    return type->class == PAIR || type->first == F80;
}

/* Sets the bytes of an element that hold no data to zero, and negative zeros to zero: their sign depends on the order
 * of the operands. */
static inline void clean(const struct type *type, void *memory)
{
    struct number number = load(type, memory);
    number.real = number.real == 0 ? 0 : number.real;
    number.second = number.second == 0 ? 0 : number.second;
    memset(memory, 0, (size_t)type->extent);
    store(type, memory, number);
}

/* Leaves out the types that the library lacks. */
static inline void choose_types(void)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < type_count; i++) {
        MPI_Aint lower, extent;
        if (types[i].handle == MPI_DATATYPE_NULL)
            continue;
        OK(MPI_Type_get_extent(types[i].handle, &lower, &extent));
        CHECK(extent == types[i].extent, "%s has extent %ld, not %d", types[i].name, (long)extent, types[i].extent);
        types[kept++] = types[i];
    }
    type_count = kept;
}

#endif
