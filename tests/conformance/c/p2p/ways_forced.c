/* Each way of a message, forced by control variables, moves messages of 0 bytes to 8 MiB whole, and is the way that the
 * performance variables report. */
#include "../tool/tool.h"

enum { KIB = 1 << 10, MIB = 1 << 20, MOST = 8 * MIB, ALL = 2147483647 };

/* What the variables report of one message, both processes together. */
enum { EAGER, BUFFERED_RECORDS, BUFFERED, COPY_BUFFER, STREAMED, FRAGMENTS, COPIED, HELPED, COUNTED };

/* The values of fabric_copy_stores and p2p_single_copy_by. */
enum { CACHED = 1, STREAMING, BUFFER, RING };
enum { BY_AUTO, BY_RECEIVER, BY_SENDER, BY_BOTH };

static const struct {
    const char *name;
    int class;
} variables[COUNTED] = {
    {"p2p_eager_bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE},  {"fabric_buffered_records", MPI_T_PVAR_CLASS_COUNTER},
    {"fabric_buffered_bytes", MPI_T_PVAR_CLASS_AGGREGATE}, {"fabric_copy_buffer_bytes", MPI_T_PVAR_CLASS_AGGREGATE},
    {"fabric_streamed_bytes", MPI_T_PVAR_CLASS_AGGREGATE}, {"p2p_bytes_in_fragments", MPI_T_PVAR_CLASS_AGGREGATE},
    {"p2p_bytes_copied", MPI_T_PVAR_CLASS_AGGREGATE},      {"p2p_bytes_helped", MPI_T_PVAR_CLASS_AGGREGATE},
};

static MPI_T_pvar_session session;
static MPI_T_pvar_handle handles[COUNTED];
static unsigned char *out, *in;

/* Sets a control variable of 4 or 8 bytes. */
static void set(const char *name, long long value)
{
    MPI_T_cvar_handle handle;
    int index = -1, count;
    ok(MPI_T_cvar_get_index(name, &index));
    ok(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    ok(MPI_T_cvar_write(handle, &value));
    ok(MPI_T_cvar_handle_free(&handle));
}

/* Sends a message of rank 0 by MPI_Send, or by MPI_Isend to a receive that waits, and counts how it went. */
static void message(int bytes, int started, unsigned long long counts[COUNTED])
{
    unsigned long long before[COUNTED], own[COUNTED];
    int seed = bytes + started;
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0)
        fill(out, (size_t)bytes, seed);
    else
        memset(in, 0x5a, (size_t)bytes + 1);
    ok(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < COUNTED; i++)
        before[i] = read_pvar(session, handles[i]);
    if (rank == 1) {
        ok(MPI_Irecv(in, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request));
        ok(MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD));
    } else {
        ok(MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (started)
            ok(MPI_Isend(out, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request));
        else
            ok(MPI_Send(out, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD));
    }
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < COUNTED; i++)
        own[i] = read_pvar(session, handles[i]) - before[i];
    if (rank == 1)
        check(filled(in, (size_t)bytes, seed) && in[bytes] == 0x5a);
    ok(MPI_Allreduce(own, counts, COUNTED, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
}

static const int sizes[] = {0,         1,         8,          32,         33,        2047,    2048,     2049,    8192,
                            16384,     16385,     32767,      32768,      65535,     65536,   65537,    100001,  262144,
                            MIB - 1,   MIB,       MIB + 1,    3 * MIB + 7, MOST};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Sets the limits; nothing is sent ahead, nor in fragments. */
static void limits(long long eager, long long ahead, long long pipelined)
{
    set("p2p_eager_limit", eager);
    set("p2p_ahead_limit", ahead);
    set("p2p_pipelined_limit", pipelined);
}

/* Whole messages: as one record in the ring, or in segments through the copy buffer; by ordinary stores, those of more
 * than 32 bytes may go through cells of the pair instead, which count as the buffer does. */
static void whole(int stores)
{
    int streaming = stores == STREAMING;
    unsigned long long counts[COUNTED];
    limits(MIB, 0, 0);
    for (int i = 0; i < SIZES && sizes[i] <= MIB; i++) {
        message(sizes[i], 0, counts);
        int buffered = sizes[i] >= 2 * KIB ? sizes[i] : 0;
        check_equal(counts[EAGER], sizes[i]);
        if (stores == CACHED && sizes[i] > 32 && counts[BUFFERED_RECORDS] == 1)
            buffered = sizes[i];
        check_equal(counts[BUFFERED], buffered);
        if (stores != CACHED)
            check_equal(counts[COPY_BUFFER], buffered);
        check_equal(counts[STREAMED], streaming ? buffered : 0);
        if (sizes[i] < 2 * KIB)
            check_equal(counts[BUFFERED_RECORDS], buffered > 0);
        else if (sizes[i] >= 32 * KIB)
            check(counts[BUFFERED_RECORDS] >= 2);
        check_equal(counts[FRAGMENTS] + counts[COPIED] + counts[HELPED], 0);
    }
}

/* Whole messages all in the ring; those that do not fit are offered, and the kernel copies them. */
static void ring(void)
{
    unsigned long long counts[COUNTED];
    limits(MIB, 0, 0);
    for (int i = 0; i < SIZES; i++) {
        message(sizes[i], 0, counts);
        check_equal(counts[BUFFERED] + counts[COPY_BUFFER] + counts[FRAGMENTS], 0);
        check_equal(counts[EAGER] + counts[COPIED] + counts[HELPED], sizes[i]);
        if (sizes[i] <= 16 * KIB)
            check_equal(counts[EAGER], sizes[i]);
    }
}

/* Whole messages all in cells, which an answer of the same length brings back. A message goes another way when room for
 * its records has to be made in the ring first: then the next one finds room. */
static void cells(void)
{
    unsigned long long counts[COUNTED];
    limits(MIB, 0, 0);
    for (int i = 0; i < SIZES && sizes[i] <= 256 * KIB; i++) {
        unsigned long long due = sizes[i] > 32 ? (unsigned long long)sizes[i] : 0;
        for (int tries = 0; tries < 3; tries++) {
            message(sizes[i], 0, counts);
            if (rank == 1)
                ok(MPI_Send(in, sizes[i], MPI_BYTE, 0, 3, MPI_COMM_WORLD));
            else
                ok(MPI_Recv(out, sizes[i], MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            if (counts[BUFFERED] == due && counts[COPY_BUFFER] == 0)
                break;
        }
        check_equal(counts[EAGER], sizes[i]);
        check_equal(counts[BUFFERED], due);
        check_equal(counts[COPY_BUFFER] + counts[STREAMED], 0);
    }
}

/* Offered messages whose data all goes with the offer, unless it would go in one piece. */
static void ahead(int streaming)
{
    unsigned long long counts[COUNTED];
    limits(0, MIB, 0);
    for (int i = 1; i < SIZES && sizes[i] <= MIB; i++) {
        message(sizes[i], 1, counts);
        check_equal(counts[EAGER], 0);
        check_equal(counts[COPIED] + counts[HELPED] + counts[FRAGMENTS], sizes[i]);
        if (sizes[i] > (streaming ? 4 * KIB : 16 * KIB)) {
            check_equal(counts[FRAGMENTS], sizes[i]);
            check_equal(counts[BUFFERED], sizes[i]);
            check_equal(counts[STREAMED], streaming ? sizes[i] : 0);
        }
    }
}

static void fragments(int stores)
{
    int streaming = stores == STREAMING;
    unsigned long long counts[COUNTED];
    for (int first = 0; first <= 64 * KIB; first += 64 * KIB) {
        limits(0, first, ALL);
        for (int i = 1; i < SIZES; i++) {
            message(sizes[i], 0, counts);
            check_equal(counts[EAGER] + counts[COPIED] + counts[HELPED], 0);
            check_equal(counts[FRAGMENTS], sizes[i]);
            check(counts[STREAMED] <= (streaming ? (unsigned long long)sizes[i] : 0));
            if (streaming && sizes[i] > 64 * KIB)
                check(counts[STREAMED] > 0);
            if (stores == RING)
                check_equal(counts[BUFFERED], 0);
            else if (stores != CACHED)
                check_equal(counts[BUFFERED], counts[COPY_BUFFER]);
        }
    }
}

/* The receiver alone copies messages of less than 32 KiB; longer ones both copy, in chunks. */
static void kernel(void)
{
    unsigned long long counts[COUNTED], helped = 0, parts = 0;
    MPI_T_pvar_handle free_slots =
        watch(session, "p2p_transfer_slots_free", MPI_T_PVAR_CLASS_LOWWATERMARK, MPI_COMM_NULL);
    limits(0, 0, 0);
    set("p2p_both_copy_from", 32 * KIB);
    unsigned long long slots = read_pvar(session, free_slots);
    for (int started = 0; started < 2; started++)
        for (int i = 1; i < SIZES && sizes[i] < 32 * KIB; i++) {
            message(sizes[i], started, counts);
            check_equal(counts[EAGER] + counts[BUFFERED] + counts[FRAGMENTS] + counts[HELPED], 0);
            check_equal(counts[COPIED], sizes[i]);
        }
    check_equal(read_pvar(session, free_slots), slots);
    for (int i = 1; i < SIZES; i++) {
        if (sizes[i] < 32 * KIB)
            continue;
        message(sizes[i], 0, counts);
        check_equal(counts[EAGER] + counts[BUFFERED] + counts[FRAGMENTS], 0);
        check_equal(counts[COPIED] + counts[HELPED], sizes[i]);
    }
    /* The receiver opened a slot for each. */
    check_equal(read_pvar(session, free_slots), rank == 1 ? slots - 1 : slots);
    /* Whether the sender gets a chunk is a question of time. */
    for (int i = 0; i < 2000 && !helped; i++) {
        message(MOST, 0, counts);
        check_equal(counts[COPIED] + counts[HELPED], MOST);
        helped = counts[HELPED];
        parts += counts[COPIED] > 0;
    }
    check(helped > 0 && parts > 0);
    set("p2p_both_copy_from", -1);
    ok(MPI_T_pvar_handle_free(session, &free_slots));
}

/* A message of rank 0 between memory of which one side has gaps, or both: pieces of 24 KiB in steps of 32 KiB. */
static void with_gaps(int gaps_out, int gaps_in, unsigned long long counts[COUNTED])
{
    enum { PIECES = 40, PIECE = 24 * KIB, STEP = 32 * KIB };
    MPI_Datatype piece, gaps;
    ok(MPI_Type_contiguous(PIECE, MPI_BYTE, &piece));
    ok(MPI_Type_create_hvector(PIECES, 1, STEP, piece, &gaps));
    ok(MPI_Type_commit(&gaps));
    unsigned long long before[COUNTED], own[COUNTED];
    fill(out, PIECES * STEP, 3);
    memset(in, 0x5a, PIECES * STEP);
    ok(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < COUNTED; i++)
        before[i] = read_pvar(session, handles[i]);
    if (rank == 0)
        ok(MPI_Ssend(out, gaps_out ? 1 : PIECES * PIECE, gaps_out ? gaps : MPI_BYTE, 1, 1, MPI_COMM_WORLD));
    else
        ok(MPI_Recv(in, gaps_in ? 1 : PIECES * PIECE, gaps_in ? gaps : MPI_BYTE, 0, 1, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    for (int i = 0; i < COUNTED; i++)
        own[i] = read_pvar(session, handles[i]) - before[i];
    if (rank == 1)
        for (int i = 0; i < PIECES; i++) {
            check(memcmp(in + i * (gaps_in ? STEP : PIECE), out + i * (gaps_out ? STEP : PIECE), PIECE) == 0);
            check(!gaps_in || in[i * STEP + PIECE] == 0x5a);
        }
    ok(MPI_Allreduce(own, counts, COUNTED, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
    check_equal(counts[COPIED] + counts[HELPED], PIECES * PIECE);
    check_equal(counts[FRAGMENTS] + counts[EAGER], 0);
    ok(MPI_Type_free(&piece));
    ok(MPI_Type_free(&gaps));
}

/* Single copies by the process that is set, or by both. */
static void copied_by(int by)
{
    unsigned long long counts[COUNTED];
    int not_this = by == BY_SENDER ? COPIED : HELPED, shared = 0;
    set("p2p_single_copy_by", by);
    limits(0, 0, 0);
    for (int started = 0; started < 2; started++)
        for (int i = 1; i < SIZES; i++) {
            message(sizes[i], started, counts);
            check_equal(counts[EAGER] + counts[BUFFERED] + counts[FRAGMENTS], 0);
            check_equal(counts[COPIED] + counts[HELPED], sizes[i]);
            if (by != BY_BOTH)
                check_equal(counts[not_this], 0);
        }
    for (int gaps = 1; gaps < 4; gaps++) {
        with_gaps(gaps & 1, gaps >> 1, counts);
        if (by != BY_BOTH)
            check_equal(counts[not_this], 0);
    }
    /* Which of both gets a chunk is a question of time. */
    for (int i = 0; by == BY_BOTH && i < 2000 && !shared; i++) {
        message(MOST, 0, counts);
        check_equal(counts[COPIED] + counts[HELPED], MOST);
        shared = counts[COPIED] > 0 && counts[HELPED] > 0;
    }
    check_equal(shared, by == BY_BOTH);
    set("p2p_single_copy_by", BY_AUTO);
}

/* A sender that is not permitted to copy sends fragments where it was to copy alone. */
static void refused(void)
{
    unsigned long long counts[COUNTED];
    set("p2p_single_copy_by", BY_SENDER);
    set("fabric_single_copy", rank);
    limits(0, 0, 0);
    for (int started = 0; started < 2; started++)
        for (int i = 1; i < SIZES; i++) {
            message(sizes[i], started, counts);
            check_equal(counts[FRAGMENTS], sizes[i]);
            check_equal(counts[COPIED] + counts[HELPED], 0);
        }
    set("fabric_single_copy", 1);
    set("p2p_single_copy_by", BY_AUTO);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    for (int i = 0; i < COUNTED; i++)
        handles[i] = watch(session, variables[i].name, variables[i].class, MPI_COMM_NULL);
    out = malloc(MOST + 1);
    in = malloc(MOST + 1);
    set("fabric_copy_stores", CACHED);
    cells();
    for (int stores = CACHED; stores <= BUFFER; stores++) {
        set("fabric_copy_stores", stores);
        whole(stores);
        ahead(stores == STREAMING);
        fragments(stores);
        kernel();
    }
    set("fabric_copy_stores", RING);
    ring();
    fragments(RING);
    kernel();
    for (int by = BY_RECEIVER; by <= BY_BOTH; by++)
        copied_by(by);
    refused();
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    free(out);
    free(in);
    return finish();
}
