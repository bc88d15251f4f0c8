/* Collective operations on more than 2^31 elements, and on blocks at displacements of as many. The memory is empty but
 * for a few elements, to keep the test small. */
#define _GNU_SOURCE
#include "check.h"
#include <sys/mman.h>

static const MPI_Count length = ((MPI_Count)1 << 31) + 4097;

/* Memory that is zero. */
static void *empty(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    check(memory != MAP_FAILED);
    return memory;
}

/* More elements than an int has values. */
static void long_vectors(void)
{
    const MPI_Count places[] = {0, length / 2, ((MPI_Count)1 << 31) - 1, (MPI_Count)1 << 31, length - 1};
    unsigned char *data = empty((size_t)length);
    MPI_Request request;
    for (int form = 0; form < 2; form++) {
        for (int i = 0; i < 5 && rank == size - 1; i++)
            data[places[i]] = (unsigned char)(10 * form + i + 1);
        if (form == 0) {
            ok(MPI_Bcast_c(data, length, MPI_BYTE, size - 1, MPI_COMM_WORLD));
        } else {
            ok(MPI_Ibcast_c(data, length, MPI_BYTE, size - 1, MPI_COMM_WORLD, &request));
            ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        for (int i = 0; i < 5; i++)
            check_equal(data[places[i]], 10 * form + i + 1);
        check_equal(data[length - 2], 0);
    }
    for (int i = 0; i < 5; i++)
        data[places[i]] = (unsigned char)(1 << rank);
    ok(MPI_Allreduce_c(MPI_IN_PLACE, data, length, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD));
    for (int i = 0; i < 5; i++)
        check_equal(data[places[i]], (1 << size) - 1);
    check_equal(data[1], 0);
    munmap(data, (size_t)length);
}

/* A block of an int for each rank, at displacements that no int has. */
static void distant_blocks(void)
{
    enum { MOST = 16 };
    MPI_Count ones[MOST];
    MPI_Aint places[MOST];
    size_t bytes = ((size_t)length + 1000 * MOST) * sizeof(int);
    int *data = empty(bytes), *other = empty(bytes), mine = 100 + rank;
    for (int who = 0; who < size; who++) {
        ones[who] = 1;
        places[who] = length + 1000 * who;
    }
    ok(MPI_Allgatherv_c(&mine, 1, MPI_INT, data, ones, places, MPI_INT, MPI_COMM_WORLD));
    for (int who = 0; who < size; who++)
        check_equal(data[places[who]], 100 + who);
    ok(MPI_Scatterv_c(data, ones, places, MPI_INT, &mine, 1, MPI_INT, size - 1, MPI_COMM_WORLD));
    check_equal(mine, 100 + rank);
    for (int who = 0; who < size; who++)
        data[places[who]] = 100 * rank + who;
    ok(MPI_Alltoallv_c(data, ones, places, MPI_INT, other, ones, places, MPI_INT, MPI_COMM_WORLD));
    for (int who = 0; who < size; who++)
        check_equal(other[places[who]], 100 * who + rank);
    mine = 7 + rank;
    ok(MPI_Gatherv_c(&mine, 1, MPI_INT, other, ones, places, MPI_INT, 0, MPI_COMM_WORLD));
    for (int who = 0; who < size && rank == 0; who++)
        check_equal(other[places[who]], 7 + who);
    munmap(data, bytes);
    munmap(other, bytes);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    distant_blocks();
    long_vectors();
    return finish();
}
