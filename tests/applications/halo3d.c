/* Heat conduction on a periodic cube: a seven-point stencil on a three-dimensional grid of processes. The six faces
 * of each block are exchanged as subarrays of the block, in place; the exchange of one axis includes the halo of
 * the axes before, so that edges and corners arrive too, and a 27-point smoothing step uses them. */
#include "application.h"

enum { CELLS = 24, STEPS = 20 };

static int dims[3], coords[3], low[3], extent[3];
static MPI_Comm grid;

static size_t at(int x, int y, int z)
{
    return ((size_t)x * (extent[1] + 2) + y) * (extent[2] + 2) + z;
}

/* The slab of thickness 1 at `start` along an axis, over the whole width of the axes before it and the inside of
 * those after. */
static MPI_Datatype face(int axis, int start)
{
    int sizes[3], subsizes[3], starts[3];
    MPI_Datatype type;
    for (int i = 0; i < 3; i++) {
        sizes[i] = extent[i] + 2;
        subsizes[i] = i < axis ? extent[i] + 2 : extent[i];
        starts[i] = i < axis ? 0 : 1;
    }
    subsizes[axis] = 1;
    starts[axis] = start;
    MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

static void exchange(double *cells, MPI_Datatype faces[3][4])
{
    for (int axis = 0; axis < 3; axis++) {
        int before, after;
        MPI_Request requests[4];
        MPI_Cart_shift(grid, axis, 1, &before, &after);
        MPI_Irecv(cells, 1, faces[axis][0], before, 2 * axis, grid, &requests[0]);
        MPI_Irecv(cells, 1, faces[axis][3], after, 2 * axis + 1, grid, &requests[1]);
        MPI_Isend(cells, 1, faces[axis][2], after, 2 * axis, grid, &requests[2]);
        MPI_Isend(cells, 1, faces[axis][1], before, 2 * axis + 1, grid, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
}

static void conduct(const double *from, double *to)
{
    for (int x = 1; x <= extent[0]; x++)
        for (int y = 1; y <= extent[1]; y++)
            for (int z = 1; z <= extent[2]; z++) {
                double sum = from[at(x - 1, y, z)] + from[at(x + 1, y, z)] + from[at(x, y - 1, z)] +
                             from[at(x, y + 1, z)] + from[at(x, y, z - 1)] + from[at(x, y, z + 1)];
                to[at(x, y, z)] = from[at(x, y, z)] + 0.1 * (sum - 6 * from[at(x, y, z)]);
            }
}

static void smooth(const double *from, double *to)
{
    for (int x = 1; x <= extent[0]; x++)
        for (int y = 1; y <= extent[1]; y++)
            for (int z = 1; z <= extent[2]; z++) {
                double sum = 0;
                for (int i = -1; i <= 1; i++)
                    for (int j = -1; j <= 1; j++)
                        for (int k = -1; k <= 1; k++)
                            sum += from[at(x + i, y + j, z + k)];
                to[at(x, y, z)] = sum / 27;
            }
}

int main(int argc, char **argv)
{
    int size, periods[3] = {1, 1, 1}, rank;
    char line[200];
    MPI_Datatype faces[3][4];
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 3, coords);
    for (int i = 0; i < 3; i++) {
        low[i] = CELLS * coords[i] / dims[i];
        extent[i] = CELLS * (coords[i] + 1) / dims[i] - low[i];
    }
    for (int axis = 0; axis < 3; axis++) {
        int starts[4] = {0, 1, extent[axis], extent[axis] + 1};
        for (int i = 0; i < 4; i++)
            faces[axis][i] = face(axis, starts[i]);
    }
    size_t count = (size_t)(extent[0] + 2) * (extent[1] + 2) * (extent[2] + 2);
    double *now = memory(count, sizeof *now), *next = memory(count, sizeof *next);
    for (int x = 1; x <= extent[0]; x++)
        for (int y = 1; y <= extent[1]; y++)
            for (int z = 1; z <= extent[2]; z++)
                now[at(x, y, z)] =
                    fraction(((uint64_t)(low[0] + x - 1) * CELLS + low[1] + y - 1) * CELLS + low[2] + z - 1);
    for (int step = 0; step < STEPS; step++) {
        exchange(now, faces);
        (step % 2 ? smooth : conduct)(now, next);
        double *swap = now;
        now = next;
        next = swap;
    }
    /* The cells of all processes, in one order whatever their number. */
    uint64_t sum = 0, total;
    for (int x = 1; x <= extent[0]; x++)
        for (int y = 1; y <= extent[1]; y++)
            for (int z = 1; z <= extent[2]; z++) {
                uint64_t place = ((uint64_t)(low[0] + x - 1) * CELLS + low[1] + y - 1) * CELLS + low[2] + z - 1;
                sum += digest(place, &now[at(x, y, z)], sizeof(double));
            }
    MPI_Allreduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, grid);
    snprintf(line, sizeof line, "at %d,%d,%d of %dx%dx%d, own cells %016llx, all cells %016llx", coords[0], coords[1],
             coords[2], dims[0], dims[1], dims[2], (unsigned long long)sum, (unsigned long long)total);
    print_in_order(line);
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < 4; i++)
            MPI_Type_free(&faces[axis][i]);
    free(now);
    free(next);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
