/* Derived datatypes beside hand-written loops. The argument chooses:
 * `vector`: MPI_Pack and MPI_Unpack of vectors of blocks of 1 to 1024 doubles, 1 KiB to 16 MiB, in GB/s of data;
 * `patterns`: the same of the access patterns of applications (those of DDTBench: WRF, MILC, NAS LU and MG, LAMMPS,
 * FFT2, SPECFEM3D);
 * `pingpong`: half round trips of both, in us: of the derived type, and of the packed data with loops at both ends.
 * Each number has beside it, with the ending `/loop`, that of a loop that does the same by hand. */
#include "floor.h"

enum { FLOATS = 8 << 20 };

static double *field;
static float *floats;
static char *packed;

/* One layout of data: the type, and the loops that do the same. */
struct layout {
    const char *name;
    MPI_Datatype type;
    void *buffer;
    size_t bytes;
    void (*pack)(char *restrict out);
    void (*unpack)(const char *restrict in);
};

/* A loop that packs and the same loop that unpacks: COPY moves `n` elements between `place` and the packed data. */
#define LOOPS(name, element, ...)                                                                                      \
    static void pack_##name(char *restrict out)                                                                        \
    {                                                                                                                  \
        element *restrict p = (element *)out;                                                                          \
        __VA_ARGS__(PACK)                                                                                              \
    }                                                                                                                  \
    static void unpack_##name(const char *restrict in)                                                                 \
    {                                                                                                                  \
        const element *restrict p = (const element *)in;                                                               \
        __VA_ARGS__(UNPACK)                                                                                            \
    }
#define PACK(place) (*p++ = (place))
#define UNPACK(place) ((place) = *p++)

/* Vectors: `blocks` blocks of `length` doubles, `stride` doubles apart. */
static int blocks, length, stride;
#define VECTOR(MOVE)                                                                                                   \
    for (int i = 0; i < blocks; i++)                                                                                   \
        for (int j = 0; j < length; j++)                                                                               \
            MOVE(field[(size_t)i * (size_t)stride + (size_t)j]);
LOOPS(vector, double, VECTOR)

/* WRF: halos of a three-dimensional field of floats, 3 wide, in x and in y. */
enum { WX = 140, WY = 120, WZ = 40 };
#define WRF_AT(z, y, x) floats[((size_t)(y)*WZ + (size_t)(z)) * WX + (size_t)(x)]
#define WRF_X(MOVE)                                                                                                    \
    for (int y = 3; y < WY - 3; y++)                                                                                   \
        for (int z = 0; z < WZ; z++)                                                                                   \
            for (int x = 3; x < 6; x++)                                                                                \
                MOVE(WRF_AT(z, y, x));
#define WRF_Y(MOVE)                                                                                                    \
    for (int y = 3; y < 6; y++)                                                                                        \
        for (int z = 0; z < WZ; z++)                                                                                   \
            for (int x = 3; x < WX - 3; x++)                                                                           \
                MOVE(WRF_AT(z, y, x));
LOOPS(wrf_x, float, WRF_X)
LOOPS(wrf_y, float, WRF_Y)

/* MILC: a slice of a four-dimensional lattice of half vectors of SU(3), 6 floats each. */
enum { MX = 16, MY = 16, MZ = 16, MT = 16 };
#define MILC(MOVE)                                                                                                     \
    for (int t = 0; t < MT; t++)                                                                                       \
        for (int y = 0; y < MY * MX / 2; y++)                                                                          \
            for (int c = 0; c < 6; c++)                                                                                \
                MOVE(floats[((size_t)t * MZ * MY * MX + (size_t)y * 2) * 6 + (size_t)c]);
LOOPS(milc, float, MILC)

/* NAS LU: rows of 5 doubles: the faces in x and y. */
enum { LX = 160, LY = 160 };
#define LU_X(MOVE)                                                                                                     \
    for (int y = 0; y < LY * 5; y++)                                                                                   \
        MOVE(field[y]);
#define LU_Y(MOVE)                                                                                                     \
    for (int y = 0; y < LY; y++)                                                                                       \
        for (int c = 0; c < 5; c++)                                                                                    \
            MOVE(field[(size_t)y * LX * 5 + (size_t)c]);
LOOPS(lu_x, double, LU_X)
LOOPS(lu_y, double, LU_Y)

/* NAS MG: the faces of a cube of doubles. */
enum { G = 130 };
#define MG_AT(z, y, x) field[((size_t)(z)*G + (size_t)(y)) * G + (size_t)(x)]
#define MG_X(MOVE)                                                                                                     \
    for (int z = 1; z < G - 1; z++)                                                                                    \
        for (int y = 1; y < G - 1; y++)                                                                                \
            MOVE(MG_AT(z, y, 1));
#define MG_Y(MOVE)                                                                                                     \
    for (int z = 1; z < G - 1; z++)                                                                                    \
        for (int x = 0; x < G; x++)                                                                                    \
            MOVE(MG_AT(z, 1, x));
#define MG_Z(MOVE)                                                                                                     \
    for (int y = 0; y < G; y++)                                                                                        \
        for (int x = 1; x < G - 1; x++)                                                                                \
            MOVE(MG_AT(1, y, x));
LOOPS(mg_x, double, MG_X)
LOOPS(mg_y, double, MG_Y)
LOOPS(mg_z, double, MG_Z)

/* LAMMPS: positions of atoms at irregular places, 3 doubles each. SPECFEM3D: points of a surface, 1 or 3 floats. */
enum { ATOMS = 6000 };
static int atoms[ATOMS];
#define LAMMPS(MOVE)                                                                                                   \
    for (int i = 0; i < ATOMS; i++)                                                                                    \
        for (int c = 0; c < 3; c++)                                                                                    \
            MOVE(field[(size_t)atoms[i] * 3 + (size_t)c]);
#define SPECFEM_OC(MOVE)                                                                                               \
    for (int i = 0; i < ATOMS; i++)                                                                                    \
        MOVE(floats[atoms[i]]);
#define SPECFEM_CM(MOVE)                                                                                               \
    for (int i = 0; i < ATOMS; i++)                                                                                    \
        for (int c = 0; c < 3; c++)                                                                                    \
            MOVE(floats[(size_t)atoms[i] * 3 + (size_t)c]);
LOOPS(lammps, double, LAMMPS)
LOOPS(specfem_oc, float, SPECFEM_OC)
LOOPS(specfem_cm, float, SPECFEM_CM)

/* FFT2: columns of a matrix of complex numbers, one after the other. */
enum { F = 256, FC = 64 };
#define FFT2(MOVE)                                                                                                     \
    for (int c = 0; c < FC; c++)                                                                                       \
        for (int r = 0; r < F; r++)                                                                                    \
            for (int part = 0; part < 2; part++)                                                                       \
                MOVE(field[((size_t)r * F + (size_t)c) * 2 + (size_t)part]);
LOOPS(fft2, double, FFT2)

static struct layout layout(const char *name, MPI_Datatype type, void *buffer, void (*pack)(char *restrict),
                            void (*unpack)(const char *restrict))
{
    int size;
    MPI_Type_commit(&type);
    MPI_Type_size(type, &size);
    struct layout made = {name, type, buffer, (size_t)size, pack, unpack};
    return made;
}

#define MADE(pattern, type, buffer) layout(#pattern, type, buffer, pack_##pattern, unpack_##pattern)

static MPI_Datatype subarray(int n, const int *sizes, const int *part, const int *starts, MPI_Datatype of)
{
    MPI_Datatype type;
    MPI_Type_create_subarray(n, sizes, part, starts, MPI_ORDER_C, of, &type);
    return type;
}

static struct layout vector(int of_length, size_t bytes)
{
    MPI_Datatype type;
    length = of_length;
    blocks = (int)(bytes / sizeof(double)) / length;
    stride = 2 * length;
    MPI_Type_vector(blocks, length, stride, MPI_DOUBLE, &type);
    return MADE(vector, type, field);
}

enum { PATTERNS = 12 };

static void make_patterns(struct layout *all)
{
    MPI_Datatype type, part, element;
    const int wrf[] = {WY, WZ, WX}, wrf_x[] = {WY - 6, WZ, 3}, wrf_y[] = {3, WZ, WX - 6}, at_x[] = {3, 0, 3};
    all[0] = MADE(wrf_x, subarray(3, wrf, wrf_x, at_x, MPI_FLOAT), floats);
    all[1] = MADE(wrf_y, subarray(3, wrf, wrf_y, at_x, MPI_FLOAT), floats);
    MPI_Type_contiguous(6, MPI_FLOAT, &element);
    MPI_Type_vector(MY * MX / 2, 1, 2, element, &part);
    MPI_Type_create_hvector(MT, 1, (MPI_Aint)MZ * MY * MX * 6 * (MPI_Aint)sizeof(float), part, &type);
    all[2] = MADE(milc, type, floats);
    MPI_Type_contiguous(5 * LY, MPI_DOUBLE, &type);
    all[3] = MADE(lu_x, type, field);
    MPI_Type_vector(LY, 5, LX * 5, MPI_DOUBLE, &type);
    all[4] = MADE(lu_y, type, field);
    const int cube[] = {G, G, G}, x[] = {G - 2, G - 2, 1}, y[] = {G - 2, 1, G}, z[] = {1, G, G - 2};
    const int start_x[] = {1, 1, 1}, start_y[] = {1, 1, 0}, start_z[] = {1, 0, 1};
    all[5] = MADE(mg_x, subarray(3, cube, x, start_x, MPI_DOUBLE), field);
    all[6] = MADE(mg_y, subarray(3, cube, y, start_y, MPI_DOUBLE), field);
    all[7] = MADE(mg_z, subarray(3, cube, z, start_z, MPI_DOUBLE), field);
    unsigned place = 0;
    static int threefold[ATOMS];
    for (int i = 0; i < ATOMS; i++) {
        place += 1 + (unsigned)(i * 7919 % 13);
        atoms[i] = (int)place;
        threefold[i] = 3 * atoms[i];
    }
    MPI_Type_create_indexed_block(ATOMS, 3, threefold, MPI_DOUBLE, &type);
    all[8] = MADE(lammps, type, field);
    MPI_Type_create_indexed_block(ATOMS, 1, atoms, MPI_FLOAT, &type);
    all[9] = MADE(specfem_oc, type, floats);
    MPI_Type_create_indexed_block(ATOMS, 3, threefold, MPI_FLOAT, &type);
    all[10] = MADE(specfem_cm, type, floats);
    MPI_Type_vector(F, 2, 2 * F, MPI_DOUBLE, &part);
    MPI_Type_create_hvector(FC, 1, 2 * sizeof(double), part, &type);
    all[11] = MADE(fft2, type, field);
}

/* What is timed. */
enum work { PACK_TYPE, PACK_LOOP, UNPACK_TYPE, UNPACK_LOOP, PING_TYPE, PING_LOOP };

static int rank;

static void ping(const struct layout *what, int by_loop)
{
    int other = 1 - rank, bytes = (int)what->bytes;
    for (int turn = 0; turn < 2; turn++) {
        if (turn == rank && by_loop) {
            what->pack(packed);
            MPI_Send(packed, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
        } else if (turn == rank) {
            MPI_Send(what->buffer, 1, what->type, other, 0, MPI_COMM_WORLD);
        } else if (by_loop) {
            MPI_Recv(packed, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            what->unpack(packed);
        } else {
            MPI_Recv(what->buffer, 1, what->type, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

static void once(const struct layout *what, enum work work)
{
    int position = 0, bytes = (int)what->bytes;
    switch (work) {
    case PACK_TYPE: MPI_Pack(what->buffer, 1, what->type, packed, bytes, &position, MPI_COMM_SELF); break;
    case PACK_LOOP: what->pack(packed); break;
    case UNPACK_TYPE: MPI_Unpack(packed, bytes, &position, what->buffer, 1, what->type, MPI_COMM_SELF); break;
    case UNPACK_LOOP: what->unpack(packed); break;
    case PING_TYPE: ping(what, 0); break;
    case PING_LOOP: ping(what, 1); break;
    }
}

static double seconds(const struct layout *what, enum work work)
{
    int repeats = (int)((size_t)(2 << 20) / what->bytes) + 1;
    double batch[BATCHES];
    for (int b = -2; b < BATCHES; b++) {
        double begin = now();
        for (int i = 0; i < repeats; i++)
            once(what, work);
        if (b >= 0)
            batch[b] = (now() - begin) / repeats;
    }
    return median(batch, BATCHES);
}

static void measure(struct layout *what, const char *name, int messages)
{
    static const char *const names[] = {"pack", "pack", "unpack", "unpack", "pingpong", "pingpong"};
    static const char *const endings[] = {"", "/loop"};
    for (int work = messages ? PING_TYPE : PACK_TYPE; work <= (messages ? PING_LOOP : UNPACK_LOOP); work++) {
        char text[96];
        double taken = seconds(what, (enum work)work);
        snprintf(text, sizeof text, "%s/%s%s", names[work], name, endings[work % 2]);
        if (rank == 0 && messages)
            report(text, taken / 2 * 1e6, "us");
        else if (rank == 0)
            report(text, (double)what->bytes / taken * 1e-9, "GB/s");
    }
    MPI_Type_free(&what->type);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {1, 2, 4, 8, 16, 64, 1024};
    static const size_t sizes[] = {1 << 10, 16 << 10, 256 << 10, 4 << 20, 16 << 20};
    const char *which = argc > 1 ? argv[1] : "vector";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    floor_begin();
    int messages = strcmp(which, "pingpong") == 0;
    field = malloc((size_t)FLOATS * sizeof(double));
    floats = malloc((size_t)FLOATS * sizeof(float));
    packed = malloc((size_t)16 << 20);
    for (size_t i = 0; i < FLOATS; i++)
        field[i] = (double)i, floats[i] = (float)i;
    memset(packed, 0, (size_t)16 << 20);
    if (strcmp(which, "patterns") != 0)
        for (int s = 0; s < 5; s++)
            for (int l = 0; l < 7; l++) {
                if ((size_t)lengths[l] * sizeof(double) > sizes[s] || (messages && l % 3 != 0))
                    continue;
                char name[48];
                snprintf(name, sizeof name, "%dx%zuK", lengths[l], sizes[s] >> 10);
                struct layout made = vector(lengths[l], sizes[s]);
                measure(&made, name, messages);
            }
    if (strcmp(which, "vector") != 0) {
        struct layout all[PATTERNS];
        make_patterns(all);
        for (int i = 0; i < PATTERNS; i++)
            measure(&all[i], all[i].name, messages);
    }
    floor_end();
    MPI_Finalize();
    return 0;
}
