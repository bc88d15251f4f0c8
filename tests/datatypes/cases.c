/* Reads descriptions of datatypes from a file, constructs the types and writes what the library answers, one line a
 * case, for `model.py` to compare: cases FILE OUTPUT EXTERNAL. The line has size, lower bound, extent, true lower
 * bound, true extent, basic elements and bytes of the buffer, then checksums: of the packed buffer, of the buffer
 * received by a message as packed data, of a buffer that packed data were unpacked into, and of one that received them
 * by a message. EXTERNAL gets the buffers of all cases, in external32. `model.py` describes a case. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };
static FILE *in, *out;
static MPI_Datatype types[MOST];
static int made, large;

static void stop(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(3);
}

static long long number(void)
{
    long long value;
    if (fscanf(in, "%lld", &value) != 1)
        stop("the file of cases ends within a case");
    return value;
}

static int small(void)
{
    return (int)number();
}

static MPI_Datatype old(void)
{
    int index = small();
    if (index < 0 || index >= made)
        stop("a definition names a later type");
    return types[index];
}

/* Lists of a constructor, in all forms that the calls need. */
static int ints[4][MOST];
static MPI_Aint addresses[MOST];
static MPI_Count counts[4][MOST];

static void list(int which, int length)
{
    if (length > MOST)
        stop("a list is too long");
    for (int i = 0; i < length; i++) {
        counts[which][i] = number();
        ints[which][i] = (int)counts[which][i];
        addresses[i] = counts[which][i];
    }
}

static void ok(int code)
{
    if (code != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int length;
        MPI_Error_string(code, text, &length);
        stop(text);
    }
}

static const MPI_Datatype kinds[] = {MPI_CHAR,   MPI_SHORT,     MPI_INT,       MPI_LONG,       MPI_FLOAT,
                                     MPI_DOUBLE, MPI_LONG_LONG, MPI_SHORT_INT, MPI_DOUBLE_INT, MPI_C_FLOAT_COMPLEX};
static const int distributions[] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};

static void array(MPI_Datatype *new)
{
    int ndims = small();
    list(0, ndims);
    list(1, ndims);
    list(2, ndims);
    int order = small() ? MPI_ORDER_FORTRAN : MPI_ORDER_C;
    MPI_Datatype of = old();
    if (large)
        ok(MPI_Type_create_subarray_c(ndims, counts[0], counts[1], counts[2], order, of, new));
    else
        ok(MPI_Type_create_subarray(ndims, ints[0], ints[1], ints[2], order, of, new));
}

static void distributed(MPI_Datatype *new)
{
    int processes = small(), rank = small(), ndims = small();
    for (int which = 0; which < 4; which++)
        list(which, ndims);
    for (int i = 0; i < ndims; i++) {
        ints[1][i] = distributions[ints[1][i]];
        ints[2][i] = ints[2][i] < 0 ? MPI_DISTRIBUTE_DFLT_DARG : ints[2][i];
    }
    int order = small() ? MPI_ORDER_FORTRAN : MPI_ORDER_C;
    MPI_Datatype of = old();
    if (large)
        ok(MPI_Type_create_darray_c(processes, rank, ndims, counts[0], ints[1], ints[2], ints[3], order, of, new));
    else
        ok(MPI_Type_create_darray(processes, rank, ndims, ints[0], ints[1], ints[2], ints[3], order, of, new));
}

static void structure(MPI_Datatype *new)
{
    MPI_Datatype olds[MOST];
    int count = small();
    list(0, count);
    list(1, count);
    for (int i = 0; i < count; i++)
        olds[i] = old();
    if (large)
        ok(MPI_Type_create_struct_c(count, counts[0], counts[1], olds, new));
    else
        ok(MPI_Type_create_struct(count, ints[0], addresses, olds, new));
}

/* Blocks of one length, or of several, at places in elements or in bytes. */
static void indexed(char kind, MPI_Datatype *new)
{
    int count = small(), length = 0;
    if (kind == 'I' || kind == 'J')
        list(0, count);
    else
        length = small();
    list(1, count);
    MPI_Datatype of = old();
    if (kind == 'I')
        ok(large ? MPI_Type_indexed_c(count, counts[0], counts[1], of, new)
                 : MPI_Type_indexed(count, ints[0], ints[1], of, new));
    else if (kind == 'J')
        ok(large ? MPI_Type_create_hindexed_c(count, counts[0], counts[1], of, new)
                 : MPI_Type_create_hindexed(count, ints[0], addresses, of, new));
    else if (kind == 'B')
        ok(large ? MPI_Type_create_indexed_block_c(count, length, counts[1], of, new)
                 : MPI_Type_create_indexed_block(count, length, ints[1], of, new));
    else
        ok(large ? MPI_Type_create_hindexed_block_c(count, length, counts[1], of, new)
                 : MPI_Type_create_hindexed_block(count, length, addresses, of, new));
}

static void define(void)
{
    char kind;
    if (fscanf(in, " %c", &kind) != 1 || made == MOST)
        stop("a definition is missing, or there are too many");
    MPI_Datatype *new = &types[made], of;
    long long first, second, third;
    switch (kind) {
    case 'P':
        *new = kinds[small()];
        break;
    case 'C':
        first = number(), of = old();
        ok(large ? MPI_Type_contiguous_c(first, of, new) : MPI_Type_contiguous((int)first, of, new));
        break;
    case 'V':
        first = number(), second = number(), third = number(), of = old();
        ok(large ? MPI_Type_vector_c(first, second, third, of, new)
                 : MPI_Type_vector((int)first, (int)second, (int)third, of, new));
        break;
    case 'H':
        first = number(), second = number(), third = number(), of = old();
        ok(large ? MPI_Type_create_hvector_c(first, second, third, of, new)
                 : MPI_Type_create_hvector((int)first, (int)second, third, of, new));
        break;
    case 'S':
        structure(new);
        break;
    case 'A':
        array(new);
        break;
    case 'D':
        distributed(new);
        break;
    case 'R':
        first = number(), second = number(), of = old();
        ok(large ? MPI_Type_create_resized_c(of, first, second, new) : MPI_Type_create_resized(of, first, second, new));
        break;
    case 'U':
        ok(MPI_Type_dup(old(), new));
        break;
    default:
        indexed(kind, new);
    }
    made++;
}

/* What stands in memory before a step: a byte depends on its place. */
static unsigned char *filled(long long length, int factor)
{
    unsigned char *memory = malloc(length + 1);
    if (!memory)
        stop("no memory");
    for (long long i = 0; i < length; i++)
        memory[i] = (unsigned char)(i * factor + (i >> 8) * 31 + 5);
    return memory;
}

static void write_checksum(const unsigned char *data, long long length)
{
    uint64_t sum = 0;
    for (long long i = 0; i < length; i++) {
        uint64_t weight = (uint64_t)(i + 1) * 0x9E3779B97F4A7C15u;
        sum += (weight ^ weight >> 29) * data[i];
    }
    fprintf(out, " %llu", (unsigned long long)sum);
}

/* A buffer of `count` elements, and messages to this process itself. */
static void move(MPI_Datatype type, MPI_Count count, long long lowest, long long end, int distinct, MPI_Count bytes)
{
    unsigned char *data = filled(end - lowest, 7), *packed = calloc(bytes + 1, 1), *stream = filled(bytes, 13);
    MPI_Count position = 0;
    MPI_Comm self = MPI_COMM_SELF;
    ok(MPI_Pack_c(data - lowest, count, type, packed, bytes, &position, self));
    if (position != bytes)
        stop("the packed size is not the size");
    write_checksum(packed, bytes);
    memset(packed, 0, bytes);
    ok(MPI_Sendrecv_c(data - lowest, count, type, 0, 1, packed, bytes, MPI_PACKED, 0, 1, self, MPI_STATUS_IGNORE));
    write_checksum(packed, bytes);
    if (distinct) {
        memset(data, 0xEE, end - lowest);
        position = 0;
        ok(MPI_Unpack_c(stream, bytes, &position, data - lowest, count, type, self));
        write_checksum(data, end - lowest);
        memset(data, 0xEE, end - lowest);
        ok(MPI_Sendrecv_c(stream, bytes, MPI_PACKED, 0, 1, data - lowest, count, type, 0, 1, self, MPI_STATUS_IGNORE));
        write_checksum(data, end - lowest);
    }
    free(data);
    free(packed);
    free(stream);
}

static int is_predefined(MPI_Datatype type)
{
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        if (type == kinds[kind])
            return 1;
    return 0;
}

static void answer(MPI_File file)
{
    MPI_Count count = number(), size, lower, extent, elements = -1;
    long long lowest = number(), end = number();
    int distinct = small(), definitions = small();
    made = 0;
    while (made < definitions)
        define();
    MPI_Datatype type = types[made - 1];
    ok(MPI_Type_commit(&type));
    ok(MPI_Type_size_c(type, &size));
    ok(MPI_Type_get_extent_c(type, &lower, &extent));
    fprintf(out, "%lld %lld %lld", (long long)size, (long long)lower, (long long)extent);
    ok(MPI_Type_get_true_extent_c(type, &lower, &extent));
    fprintf(out, " %lld %lld", (long long)lower, (long long)extent);
    unsigned char *data = filled(end - lowest, 7);
    MPI_Status status;
    ok(MPI_File_write_c(file, data - lowest, count, type, &status));
    ok(MPI_Get_elements_c(&status, type, &elements));
    fprintf(out, " %lld %lld", (long long)elements, (long long)(count * size));
    free(data);
    move(type, count, lowest, end, distinct, count * size);
    fputc('\n', out);
    for (int i = 0; i < made; i++)
        if (!is_predefined(types[i]))
            ok(MPI_Type_free(&types[i]));
}

int main(int argc, char **argv)
{
    MPI_File file;
    MPI_Init(&argc, &argv);
    if (argc != 4 || !(in = fopen(argv[1], "r")) || !(out = fopen(argv[2], "w")))
        stop("cases FILE OUTPUT EXTERNAL");
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    remove(argv[3]);
    ok(MPI_File_open(MPI_COMM_SELF, argv[3], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    ok(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL));
    while (fscanf(in, "%d", &large) == 1)
        answer(file);
    ok(MPI_File_close(&file));
    fclose(out);
    MPI_Finalize();
    return 0;
}
