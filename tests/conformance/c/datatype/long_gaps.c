/* Long messages between all pairs of layouts: one block, short and long pieces, in ascending and descending order,
 * from MPI_BOTTOM, and elements of 5 bytes, so that a transfer is cut inside of them. Every byte arrives in its place,
 * and no gap changes, in all forms of send and receive; a message that is too long fills its buffer. With the argument
 * `threads` three threads of each process do so at once. */
#include "threads.h"

enum { BYTES = 300005, MEMORY = 5 * BYTES, KINDS = 8, MANY = 12, THREADS = 3, GAP = 0xee };

/* A layout of `bytes` bytes of data in `memory`. */
struct layout {
    MPI_Datatype type;
    int count, pieces, bytes;
    void *start;
    unsigned char *memory;
    int *lengths;
    MPI_Aint *places;
};

static int failures[THREADS + 1];
static MPI_Comm own[THREADS];

/* The length of piece `i`, and the gap behind it. */
static void piece(int kind, int i, int *length, int *gap)
{
    static const int lengths[KINDS] = {BYTES, 1, 8, 700, 100000, 20000, 3000, 4};
    static const int gaps[KINDS] = {0, 2, 8, 300, 900, 900, 1, 3};
    *length = lengths[kind], *gap = gaps[kind];
    if (kind == 1)
        *length += i % 3;
    if (kind == 3 || kind == 4)
        *length += i * 37 % 100;
    if (kind == 7 && i % 2)
        *length = 1, *gap = 6;
}

static struct layout make(int kind, int bytes)
{
    struct layout made = {.bytes = bytes, .count = 1, .memory = malloc(MEMORY)};
    int room = bytes + 2, at = 16, left = bytes;
    made.start = made.memory;
    made.lengths = malloc((size_t)room * sizeof(int));
    made.places = malloc((size_t)room * sizeof(MPI_Aint));
    for (; left > 0; made.pieces++) {
        int length, gap;
        piece(kind, made.pieces, &length, &gap);
        if (length > left)
            length = left;
        made.lengths[made.pieces] = length;
        made.places[made.pieces] = at;
        at += length + gap;
        left -= length;
    }
    for (int i = 0; kind == 5 && i < made.pieces; i++)
        made.places[i] = MEMORY - 21000 * (i + 1);
    if (kind == 7) {
        /* An int and a char, as often as they fit. */
        const int ones[] = {1, 1};
        const MPI_Aint places[] = {0, 7};
        const MPI_Datatype types[] = {MPI_INT, MPI_CHAR};
        MPI_Datatype element;
        MPI_Type_create_struct(2, ones, places, types, &element);
        MPI_Type_create_resized(element, 0, 14, &made.type);
        MPI_Type_free(&element);
        made.count = bytes / 5;
        made.start = made.memory + 16;
    } else if (kind == 6) {
        MPI_Aint base;
        MPI_Aint *absolute = malloc((size_t)made.pieces * sizeof(MPI_Aint));
        MPI_Get_address(made.memory, &base);
        for (int i = 0; i < made.pieces; i++)
            absolute[i] = MPI_Aint_add(base, made.places[i]);
        MPI_Type_create_hindexed(made.pieces, made.lengths, absolute, MPI_BYTE, &made.type);
        free(absolute);
        made.start = MPI_BOTTOM;
    } else {
        MPI_Type_create_hindexed(made.pieces, made.lengths, made.places, MPI_BYTE, &made.type);
    }
    MPI_Type_commit(&made.type);
    return made;
}

static void discard(struct layout *what)
{
    MPI_Type_free(&what->type);
    free(what->memory);
    free(what->lengths);
    free(what->places);
}

/* Writes the data, and the gaps, or with `expected` data bytes compares them. Returns whether all are as due. */
static int walk(struct layout *what, int seed, int expected)
{
    static const unsigned char untouched = 0x11;
    int right = 1, at = 0, compare = expected >= 0;
    unsigned char *gaps = malloc(MEMORY);
    memset(gaps, GAP, MEMORY);
    if (!compare)
        memset(what->memory, GAP, MEMORY);
    for (int i = 0; i < what->pieces; i++)
        for (int j = 0; j < what->lengths[i]; j++, at++) {
            unsigned char due = (unsigned char)((at * 7 + at / 251 + seed) % 250);
            unsigned char *place = what->memory + what->places[i] + j;
            if (!compare)
                *place = seed < 0 ? untouched : due;
            else
                right &= *place == (at < expected ? due : untouched);
            gaps[what->places[i] + j] = *place;
        }
    right &= !compare || memcmp(gaps, what->memory, MEMORY) == 0;
    free(gaps);
    return right;
}

static void expect(int me, int right, int from, int to, const char *what)
{
    if (!right && failures[me]++ < 3)
        fprintf(stderr, "rank %d: %s from layout %d to layout %d\n", rank, what, from, to);
}

static int next(void)
{
    return (rank + 1) % size;
}

static int previous(void)
{
    return (rank + size - 1) % size;
}

/* One exchange in a form of send and receive; the message may be longer or shorter than the room for it. */
static void exchange(int me, MPI_Comm comm, int kinds[2], int sent, int room, int form)
{
    struct layout out = make(kinds[0], sent), in = make(kinds[1], room);
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Message message;
    int result = MPI_SUCCESS, got = -1, flag = 0;
    walk(&out, 1 + rank + form, -1);
    walk(&in, -1, -1);
    switch (form % 5) {
    case 0:
        result = MPI_Sendrecv(out.start, out.count, out.type, next(), form, in.start, in.count, in.type, previous(),
                              form, comm, &status);
        break;
    case 1:
        MPI_Irecv(in.start, in.count, in.type, previous(), form, comm, &requests[0]);
        MPI_Issend(out.start, out.count, out.type, next(), form, comm, &requests[1]);
        result = MPI_Wait(&requests[0], &status);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        break;
    case 2:
        MPI_Isend(out.start, out.count, out.type, next(), form, comm, &requests[1]);
        result = MPI_Recv(in.start, in.count, in.type, MPI_ANY_SOURCE, form, comm, &status);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        break;
    case 3:
        MPI_Isend(out.start, out.count, out.type, next(), form, comm, &requests[1]);
        MPI_Mprobe(previous(), form, comm, &message, &status);
        result = MPI_Mrecv(in.start, in.count, in.type, &message, &status);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        break;
    default:
        MPI_Irecv(in.start, in.count, in.type, previous(), form, comm, &requests[0]);
        MPI_Isend(out.start, out.count, out.type, next(), form, comm, &requests[1]);
        while (!flag)
            result = MPI_Test(&requests[0], &flag, &status);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
    int moved = sent < room ? sent : room;
    MPI_Get_count(&status, MPI_BYTE, &got);
    expect(me, got == moved && status.MPI_SOURCE == previous(), kinds[0], kinds[1], "a wrong count");
    int due = sent > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
    expect(me, class_of(result) == due, kinds[0], kinds[1], "a wrong result");
    expect(me, walk(&in, 1 + previous() + form, moved), kinds[0], kinds[1], "wrong data");
    expect(me, walk(&out, 1 + rank + form, sent), kinds[0], kinds[1], "data of a send changed");
    discard(&out);
    discard(&in);
}

/* Several messages at once, received in the other order; the first send has been freed. */
static void many(int me, MPI_Comm comm)
{
    struct layout out[MANY], in[MANY];
    MPI_Request requests[2 * MANY];
    for (int i = 0; i < MANY; i++) {
        out[i] = make(i % KINDS, BYTES - 5 * i);
        in[i] = make((3 * i + 1) % KINDS, BYTES - 5 * i);
        walk(&out[i], i + rank, -1);
        walk(&in[i], -1, -1);
    }
    for (int i = 0; i < MANY; i++)
        MPI_Isend(out[i].start, out[i].count, out[i].type, next(), i, comm, &requests[i]);
    MPI_Request_free(&requests[0]);
    for (int i = MANY - 1; i >= 0; i--)
        MPI_Irecv(in[i].start, in[i].count, in[i].type, previous(), i, comm, &requests[MANY + i]);
    MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE);
    /* The freed send is complete when all receives are. */
    MPI_Barrier(comm);
    for (int i = 0; i < MANY; i++) {
        expect(me, walk(&in[i], i + previous(), in[i].bytes), i % KINDS, (3 * i + 1) % KINDS, "one of many");
        discard(&out[i]);
        discard(&in[i]);
    }
}

static void *work(void *number)
{
    int me = (int)(size_t)number, form = 0;
    MPI_Comm comm = me < THREADS ? own[me] : MPI_COMM_WORLD;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int from = 0; from < KINDS; from++)
        for (int to = 0; to < KINDS; to++) {
            int kinds[] = {from, to}, rest = form % 7 * 5;
            exchange(me, comm, kinds, BYTES - rest, BYTES - rest, form);
            if (form % 3 == me % 3) {
                exchange(me, comm, kinds, BYTES, BYTES - 100000, form);
                exchange(me, comm, kinds, BYTES - 100000, BYTES, form + 1);
            }
            form++;
        }
    many(me, comm);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 && strcmp(argv[1], "threads") == 0;
    begin_threads(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
    return_errors();
    if (threads)
        run_threads(THREADS, own, work);
    else
        work((void *)(size_t)THREADS);
    for (int i = 0; i <= THREADS; i++)
        check_equal(failures[i], 0);
    return finish();
}
