/* Particles that fly through a periodic box, which the processes share in slabs. After every step a process sends
 * those that left its slab to its neighbours: as a struct type with padding, picked out of the array where they are
 * by an indexed type. The receiver probes for their number. */
#include "application.h"

#include <math.h>
#include <stddef.h>

enum { PARTICLES = 3000, STEPS = 40, ROOM = 2 * PARTICLES };

typedef struct {
    char kind;
    double place[3];
    float speed[3];
    short charge;
    int64_t id;
} particle;

static particle list[ROOM];
static int count, rank, size;

static MPI_Datatype particle_type(void)
{
    int lengths[] = {1, 3, 3, 1, 1};
    MPI_Aint places[] = {offsetof(particle, kind), offsetof(particle, place), offsetof(particle, speed),
                         offsetof(particle, charge), offsetof(particle, id)};
    MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_FLOAT, MPI_SHORT, MPI_INT64_T}, fields, type;
    MPI_Type_create_struct(5, lengths, places, types, &fields);
    MPI_Type_create_resized(fields, 0, sizeof(particle), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&fields);
    return type;
}

static int owner(const particle *one)
{
    int slab = (int)(one->place[0] * size);
    return slab < size ? slab : size - 1;
}

static void move(particle *one)
{
    for (int axis = 0; axis < 3; axis++) {
        one->place[axis] += one->speed[axis];
        one->place[axis] -= floor(one->place[axis]);
    }
    /* Charges turn the flight a little, so that rounding matters. */
    float turned = one->speed[1] + 0.0001f * one->charge * one->speed[2];
    one->speed[2] -= 0.0001f * one->charge * one->speed[1];
    one->speed[1] = turned;
}

/* Sends the particles of the list that belong to `to`, and keeps the others. */
static void send(int to, MPI_Datatype type, MPI_Request *request, MPI_Datatype *leaving)
{
    static int blocks[2][ROOM];
    int *places = blocks[to == (rank + 1) % size], found = 0;
    for (int i = 0; i < count; i++)
        if (owner(&list[i]) == to)
            places[found++] = i;
    MPI_Type_create_indexed_block(found, 1, places, type, leaving);
    MPI_Type_commit(leaving);
    MPI_Isend(list, 1, *leaving, to, 7, MPI_COMM_WORLD, request);
}

/* Receives what a neighbour sends behind the list; returns how many. */
static int receive(int from, int behind, MPI_Datatype type)
{
    MPI_Status status;
    int arrived;
    MPI_Probe(from, 7, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, type, &arrived);
    if (arrived == MPI_UNDEFINED || behind + arrived > ROOM) {
        fprintf(stderr, "rank %d: a message with a wrong number of particles from rank %d\n", rank, from);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Recv(list + behind, arrived, type, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return arrived;
}

int main(int argc, char **argv)
{
    char line[200];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Datatype type = particle_type();
    for (int id = 0; id < PARTICLES; id++) {
        particle one;
        memset(&one, 0, sizeof one);
        one.kind = (char)('a' + id % 26);
        one.charge = (short)(id % 7 - 3);
        one.id = id;
        for (int axis = 0; axis < 3; axis++) {
            one.place[axis] = fraction(6 * (uint64_t)id + axis);
            one.speed[axis] = (float)((fraction(6 * (uint64_t)id + 3 + axis) - 0.5) / (2 * size));
        }
        if (owner(&one) == rank)
            list[count++] = one;
    }
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    long sent = 0;
    for (int step = 0; step < STEPS; step++) {
        MPI_Request requests[2];
        MPI_Datatype leaving[2];
        int neighbours[2] = {right, left}, sides = size > 2 ? 2 : size - 1, behind = count, kept = 0;
        for (int i = 0; i < count; i++)
            move(&list[i]);
        for (int side = 0; side < sides; side++)
            send(neighbours[side], type, &requests[side], &leaving[side]);
        for (int side = 0; side < sides; side++)
            behind += receive(neighbours[sides - 1 - side], behind, type);
        MPI_Waitall(sides, requests, MPI_STATUSES_IGNORE);
        for (int side = 0; side < sides; side++)
            MPI_Type_free(&leaving[side]);
        for (int i = 0; i < behind; i++)
            if (i >= count || owner(&list[i]) == rank)
                list[kept++] = list[i];
            else
                sent++;
        count = kept;
    }
    uint64_t sum = 0, total;
    for (int i = 0; i < count; i++) {
        uint64_t own = digest((uint64_t)list[i].id, list[i].place, sizeof list[i].place);
        own = digest(own, list[i].speed, sizeof list[i].speed);
        sum += digest(own ^ (uint64_t)list[i].kind, &list[i].charge, sizeof list[i].charge);
        if (owner(&list[i]) != rank)
            fprintf(stderr, "rank %d: particle %lld is in another slab\n", rank, (long long)list[i].id);
    }
    MPI_Allreduce(&sum, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    snprintf(line, sizeof line, "%d particles, %ld left, own %016llx, all %016llx", count, sent,
             (unsigned long long)sum, (unsigned long long)total);
    print_in_order(line);
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
