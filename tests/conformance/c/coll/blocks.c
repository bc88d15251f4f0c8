/* Blocks with lengths, places and types of their own, in all forms, in place too; what lies between blocks stays. */
#include "check.h"

enum { GAP = 3, FORMS = 3 };

static MPI_Comm comm;

/* The length of the block that one process sends to another; some are empty. */
static int length(int from, int to)
{
    return (from * 5 + to * 3) % 7;
}

static int value(int from, int to, int place)
{
    return from * 10000 + to * 100 + place;
}

/* Completes what a form has started; a persistent request is started twice. */
static void finish_form(int form, MPI_Request *request)
{
    if (form == 0)
        return;
    if (form == 2) {
        ok(MPI_Start(request));
        ok(MPI_Wait(request, MPI_STATUS_IGNORE));
        ok(MPI_Start(request));
    }
    ok(MPI_Wait(request, MPI_STATUS_IGNORE));
    if (form == 2)
        ok(MPI_Request_free(request));
    check(*request == MPI_REQUEST_NULL);
}

#define IN_ALL_FORMS(form, request, name, iname, init, ...)                                                            \
    do {                                                                                                               \
        MPI_Request request;                                                                                           \
        if (form == 0)                                                                                                 \
            ok(name(__VA_ARGS__, comm));                                                                               \
        else if (form == 1)                                                                                            \
            ok(iname(__VA_ARGS__, comm, &request));                                                                    \
        else                                                                                                           \
            ok(init(__VA_ARGS__, comm, MPI_INFO_NULL, &request));                                                      \
        finish_form(form, &request);                                                                                   \
    } while (0)

/* Blocks of these lengths, in reverse order with gaps. Returns the room that they need. */
static int place(int n, const int *counts, int *displs)
{
    int at = GAP;
    for (int i = n - 1; i >= 0; i--) {
        displs[i] = at;
        at += counts[i] + GAP;
    }
    return at;
}

static int *blank(int room)
{
    int *memory = malloc((size_t)(room + 1) * sizeof *memory);
    for (int i = 0; i <= room; i++)
        memory[i] = -1;
    return memory;
}

/* All blocks are right, and nothing else was written. `to` < 0: blocks are the same for all. */
static void check_blocks(const int *memory, int room, const int *counts, const int *displs, int to)
{
    int written = 0;
    for (int from = 0; from < size; from++)
        for (int i = 0; i < counts[from]; i++, written++)
            check_equal(memory[displs[from] + i], value(from, to < 0 ? 0 : to, i));
    for (int i = 0; i < room; i++)
        written -= memory[i] != -1;
    check_equal(written, 0);
}

static void rooted(int form, int root)
{
    int counts[size], displs[size], own = length(rank, root), room;
    for (int i = 0; i < size; i++)
        counts[i] = length(i, root);
    room = place(size, counts, displs);
    int *all = blank(room), *mine = blank(own), at_root = rank == root;
    for (int i = 0; i < own; i++)
        mine[i] = value(rank, root, i);
    IN_ALL_FORMS(form, request, MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, mine, own, MPI_INT, at_root ? all : NULL,
                 at_root ? counts : NULL, at_root ? displs : NULL, MPI_INT, root);
    if (at_root)
        check_blocks(all, room, counts, displs, root);
    for (int i = 0; i < own; i++)
        mine[i] = -1;
    IN_ALL_FORMS(form, request, MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, at_root ? all : NULL,
                 at_root ? counts : NULL, at_root ? displs : NULL, MPI_INT, mine, own, MPI_INT, root);
    for (int i = 0; i < own; i++)
        check_equal(mine[i], value(rank, root, i));
    /* The root's own block is in its place. */
    if (at_root)
        for (int i = 0; i < room; i++)
            if (i < displs[root] || i >= displs[root] + own)
                all[i] = -1;
    IN_ALL_FORMS(form, request, MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, at_root ? MPI_IN_PLACE : mine, own,
                 MPI_INT, all, counts, displs, MPI_INT, root);
    if (at_root)
        check_blocks(all, room, counts, displs, root);
    IN_ALL_FORMS(form, request, MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, all, counts, displs, MPI_INT,
                 at_root ? MPI_IN_PLACE : mine, own, MPI_INT, root);
    if (at_root)
        check_blocks(all, room, counts, displs, root);
    free(all);
    free(mine);
}

static void gathered_by_all(int form)
{
    int counts[size], displs[size], own = length(rank, 0), room;
    for (int i = 0; i < size; i++)
        counts[i] = length(i, 0);
    room = place(size, counts, displs);
    int *all = blank(room), *mine = blank(own);
    for (int i = 0; i < own; i++)
        mine[i] = value(rank, 0, i);
    IN_ALL_FORMS(form, request, MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, mine, own, MPI_INT, all, counts,
                 displs, MPI_INT);
    check_blocks(all, room, counts, displs, -1);
    for (int i = 0; i < room; i++)
        if (i < displs[rank] || i >= displs[rank] + own)
            all[i] = -1;
    IN_ALL_FORMS(form, request, MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, MPI_IN_PLACE, 0,
                 MPI_DATATYPE_NULL, all, counts, displs, MPI_INT);
    check_blocks(all, room, counts, displs, -1);
    free(all);
    free(mine);
}

static void exchanged(int form)
{
    int out[size], in[size], out_at[size], in_at[size], out_bytes[size], in_bytes[size], both[size], both_at[size];
    MPI_Datatype types[size], halves[size];
    for (int i = 0; i < size; i++) {
        out[i] = length(rank, i);
        in[i] = length(i, rank);
        both[i] = length(rank < i ? rank : i, rank < i ? i : rank);
    }
    int out_room = place(size, out, out_at), room = place(size, in, in_at), both_room = place(size, both, both_at);
    int *send = blank(out_room), *recv = blank(room), *inside = blank(both_room);
    for (int to = 0; to < size; to++) {
        for (int i = 0; i < out[to]; i++)
            send[out_at[to] + i] = value(rank, to, i);
        for (int i = 0; i < both[to]; i++)
            inside[both_at[to] + i] = value(rank, to, i);
        out_bytes[to] = out_at[to] * (int)sizeof(int);
        in_bytes[to] = in_at[to] * (int)sizeof(int);
        types[to] = MPI_INT;
        /* Of an empty block there may be no type. */
        halves[to] = in[to] ? MPI_UNSIGNED : MPI_DATATYPE_NULL;
    }
    IN_ALL_FORMS(form, request, MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, send, out, out_at, MPI_INT, recv, in,
                 in_at, MPI_INT);
    check_blocks(recv, room, in, in_at, rank);
    for (int i = 0; i < room; i++)
        recv[i] = -1;
    IN_ALL_FORMS(form, request, MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, send, out, out_bytes, types, recv,
                 in, in_bytes, halves);
    check_blocks(recv, room, in, in_at, rank);
    /* A persistent one is started twice: the blocks go there and back. */
    IN_ALL_FORMS(form, request, MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, MPI_IN_PLACE, NULL, NULL,
                 MPI_DATATYPE_NULL, inside, both, both_at, MPI_INT);
    for (int from = 0; from < size; from++)
        for (int i = 0; i < both[from]; i++)
            check_equal(inside[both_at[from] + i], form == 2 ? value(rank, from, i) : value(from, rank, i));
    free(send);
    free(recv);
    free(inside);
}

/* Long blocks, each of which is a column of a matrix at the sender and a row at the receiver. */
static void columns(int form, int n)
{
    MPI_Datatype column, row;
    int counts[size], displs[size], bytes[size];
    MPI_Datatype out[size], in[size];
    int *matrix = blank(n * size), *rows = blank(n * size);
    for (int i = 0; i < n * size; i++)
        matrix[i] = value(rank, i % size, i / size);
    ok(MPI_Type_vector(n, 1, size, MPI_INT, &column));
    ok(MPI_Type_commit(&column));
    ok(MPI_Type_contiguous(n, MPI_INT, &row));
    ok(MPI_Type_commit(&row));
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        displs[i] = i * (int)sizeof(int);
        bytes[i] = i * n * (int)sizeof(int);
        out[i] = column;
        in[i] = row;
    }
    IN_ALL_FORMS(form, request, MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, matrix, counts, displs, out, rows,
                 counts, bytes, in);
    for (int i = 0; i < n * size; i++)
        check_equal(rows[i], value(i / n, rank, i % n));
    ok(MPI_Type_free(&column));
    ok(MPI_Type_free(&row));
    free(matrix);
    free(rows);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int form = 0; form < FORMS; form++) {
        for (int root = 0; root < size; root++)
            rooted(form, root);
        gathered_by_all(form);
        exchanged(form);
        columns(form, 10);
        columns(form, 20000);
    }
    ok(MPI_Comm_free(&comm));
    return finish();
}
