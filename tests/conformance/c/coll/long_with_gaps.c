/* Long exchanges and broadcasts in which some processes describe their blocks by types with gaps and the others by
 * contiguous ones: all processes of a call go the same way, whatever the layout of their buffers, on both sides of the
 * lengths from which it goes by messages. */
#include "check.h"

enum { LONGEST = 300000 };

/* Whether this process has a gap behind each integer. */
static int gaps;

static MPI_Datatype type_of(int length)
{
    MPI_Datatype type;
    if (gaps) {
        MPI_Datatype vector;
        ok(MPI_Type_vector(length, 1, 2, MPI_INT, &vector));
        ok(MPI_Type_create_resized(vector, 0, 2 * (MPI_Aint)sizeof(int) * length, &type));
        ok(MPI_Type_free(&vector));
    } else {
        ok(MPI_Type_contiguous(length, MPI_INT, &type));
    }
    ok(MPI_Type_commit(&type));
    return type;
}

static int value(int from, int to, int at)
{
    return from * 1000003 + to * 10007 + at;
}

static void exchange(int length, int *out, int *in)
{
    int step = gaps ? 2 : 1;
    MPI_Datatype type = type_of(length);
    for (int peer = 0; peer < size; peer++)
        for (int i = 0; i < length; i++) {
            out[((size_t)peer * length + i) * step] = value(rank, peer, i);
            in[((size_t)peer * length + i) * step] = -1;
        }
    ok(MPI_Alltoall(out, 1, type, in, 1, type, MPI_COMM_WORLD));
    int wrong = 0;
    for (int peer = 0; peer < size; peer++)
        for (int i = 0; i < length; i++)
            wrong += in[((size_t)peer * length + i) * step] != value(peer, rank, i);
    check_equal(wrong, 0);
    for (int root = 0; root < size; root++) {
        for (int i = 0; i < length; i++)
            in[(size_t)i * step] = rank == root ? value(root, length, i) : -1;
        ok(MPI_Bcast(in, 1, type, root, MPI_COMM_WORLD));
        for (int i = 0; i < length; i++)
            wrong += in[(size_t)i * step] != value(root, length, i);
    }
    check_equal(wrong, 0);
    ok(MPI_Type_free(&type));
}

int main(int argc, char **argv)
{
    static const int lengths[] = {1, 8000, 32768, 32769, 65536, 65537, 131073, LONGEST};
    begin(&argc, &argv);
    int *out = malloc(2 * sizeof(int) * (size_t)size * LONGEST), *in = malloc(2 * sizeof(int) * (size_t)size * LONGEST);
    for (int who = 0; who <= size; who++) {
        /* Each process in turn, then all. */
        gaps = who == rank || who == size;
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            exchange(lengths[i], out, in);
    }
    free(out);
    free(in);
    return finish();
}
