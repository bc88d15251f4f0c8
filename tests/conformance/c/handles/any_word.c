/* Whatever word is passed as a handle, the call returns the error class of that kind of handle, or works when the
 * word is a valid handle (or MPI_COMM_NULL, which has a name); it never crashes. Words: everything below 4096, freed
 * handles, handles of other kinds, valid handles with one bit changed, random bits. */
#include "check.h"
#include <stdint.h>

enum kind { COMM, TYPE, OP, REQUEST, ERRHANDLER, MESSAGE, KINDS };

static uintptr_t words[20000];
static int word_count;
static uintptr_t valid[KINDS][2];

static void add(uintptr_t word)
{
    if (word_count < (int)(sizeof words / sizeof *words))
        words[word_count++] = word;
}

static void record(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)length, (void)type;
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

/* Creates two valid handles of most kinds; one more of each is created and freed. */
static void make_handles(void)
{
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Errhandler errhandler;
    MPI_Request request;
    static int never;
    for (int i = 0; i < 2; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Type_dup(MPI_INT, &type);
        MPI_Op_create(record, 1, &op);
        MPI_Comm_create_errhandler(handler, &errhandler);
        MPI_Irecv(&never, 1, MPI_INT, 0, 1234, MPI_COMM_SELF, &request);
        valid[COMM][i] = (uintptr_t)comm;
        valid[TYPE][i] = (uintptr_t)type;
        valid[OP][i] = (uintptr_t)op;
        valid[ERRHANDLER][i] = (uintptr_t)errhandler;
        valid[REQUEST][i] = (uintptr_t)request;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_dup(MPI_INT, &type);
    MPI_Op_create(record, 1, &op);
    MPI_Comm_create_errhandler(handler, &errhandler);
    MPI_Irecv(&never, 1, MPI_INT, 0, 1234, MPI_COMM_SELF, &request);
    uintptr_t freed[] = {(uintptr_t)comm, (uintptr_t)type, (uintptr_t)op, (uintptr_t)errhandler, (uintptr_t)request};
    MPI_Comm_free(&comm);
    MPI_Type_free(&type);
    MPI_Op_free(&op);
    MPI_Errhandler_free(&errhandler);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 5; i++)
        add(freed[i]);
}

static void make_words(void)
{
    uint64_t state = 88172645463325252u;
    for (uintptr_t word = 0; word < 4097; word++)
        add(word);
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < 2; i++) {
            add(valid[kind][i]);
            for (int bit = 0; bit < 64; bit++)
                add(valid[kind][i] ^ ((uintptr_t)1 << bit));
        }
    add(UINTPTR_MAX);
    add((uintptr_t)&state);
    add((uintptr_t)words);
    for (int i = 0; i < 3000; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        add((uintptr_t)state >> (i % 5 * 12));
    }
}

/* Whether a call may accept the word: it is valid, or may be predefined. A predefined datatype
 * or operation need not exist. */
static int may_be_valid(enum kind kind, uintptr_t word)
{
    if (word == valid[kind][0] || word == valid[kind][1])
        return word != 0;
    switch (kind) {
    case COMM: return word == (uintptr_t)MPI_COMM_WORLD || word == (uintptr_t)MPI_COMM_SELF;
    case TYPE: return word > 0x200 && word < 0x300;
    case OP: return word > 0x20 && word < 0x40;
    case REQUEST: return word == (uintptr_t)MPI_REQUEST_NULL;
    case ERRHANDLER: return word > 0x140 && word < 0x148;
    default: return word == (uintptr_t)MPI_MESSAGE_NO_PROC;
    }
}

static uintptr_t now;

#define refused(call, expected)                                                                                        \
    do {                                                                                                               \
        int is = class_of(call), should = (expected);                                                                  \
        if (is != should && wrong++ < 10)                                                                              \
            fprintf(stderr, "%s:%d: %s with handle %#llx gives class %d, not %d\n", __FILE__, __LINE__, #call,         \
                    (unsigned long long)now, is, should);                                                              \
    } while (0)

static int data[64], out[64], flag, number, numbers[4];
static MPI_Status status, statuses[4];

static void as_communicator(MPI_Comm c)
{
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Message m;
    MPI_Comm copy = c, made;
    MPI_Errhandler e;
    char name[MPI_MAX_OBJECT_NAME];
    refused(MPI_Comm_rank(c, &number), MPI_ERR_COMM);
    refused(MPI_Comm_size(c, &number), MPI_ERR_COMM);
    refused(MPI_Comm_dup(c, &made), MPI_ERR_COMM);
    refused(MPI_Comm_free(&copy), MPI_ERR_COMM);
    refused(MPI_Comm_compare(c, MPI_COMM_WORLD, &number), MPI_ERR_COMM);
    refused(MPI_Comm_compare(MPI_COMM_WORLD, c, &number), MPI_ERR_COMM);
    refused(MPI_Comm_set_name(c, "x"), MPI_ERR_COMM);
    refused(MPI_Comm_get_name(c, name, &number), c == MPI_COMM_NULL ? MPI_SUCCESS : MPI_ERR_COMM);
    refused(MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN), MPI_ERR_COMM);
    refused(MPI_Comm_get_errhandler(c, &e), MPI_ERR_COMM);
    refused(MPI_Comm_call_errhandler(c, MPI_ERR_OTHER), MPI_ERR_COMM);
    refused(MPI_Send(data, 1, MPI_INT, 0, 0, c), MPI_ERR_COMM);
    refused(MPI_Ssend(data, 1, MPI_INT, 0, 0, c), MPI_ERR_COMM);
    refused(MPI_Rsend(data, 1, MPI_INT, 0, 0, c), MPI_ERR_COMM);
    refused(MPI_Bsend(data, 1, MPI_INT, 0, 0, c), MPI_ERR_COMM);
    refused(MPI_Isend(data, 1, MPI_INT, 0, 0, c, &r), MPI_ERR_COMM);
    refused(MPI_Issend(data, 1, MPI_INT, 0, 0, c, &r), MPI_ERR_COMM);
    refused(MPI_Irsend(data, 1, MPI_INT, 0, 0, c, &r), MPI_ERR_COMM);
    refused(MPI_Ibsend(data, 1, MPI_INT, 0, 0, c, &r), MPI_ERR_COMM);
    refused(MPI_Recv(data, 1, MPI_INT, 0, 0, c, &status), MPI_ERR_COMM);
    refused(MPI_Recv_c(data, 1, MPI_INT, 0, 0, c, &status), MPI_ERR_COMM);
    refused(MPI_Irecv(data, 1, MPI_INT, 0, 0, c, &r), MPI_ERR_COMM);
    refused(MPI_Sendrecv(data, 1, MPI_INT, 0, 0, out, 1, MPI_INT, 0, 0, c, &status), MPI_ERR_COMM);
    refused(MPI_Sendrecv_replace(data, 1, MPI_INT, 0, 0, 0, 0, c, &status), MPI_ERR_COMM);
    refused(MPI_Probe(0, 0, c, &status), MPI_ERR_COMM);
    refused(MPI_Iprobe(0, 0, c, &flag, &status), MPI_ERR_COMM);
    refused(MPI_Mprobe(0, 0, c, &m, &status), MPI_ERR_COMM);
    refused(MPI_Improbe(0, 0, c, &flag, &m, &status), MPI_ERR_COMM);
    refused(MPI_Barrier(c), MPI_ERR_COMM);
    refused(MPI_Bcast(data, 1, MPI_INT, 0, c), MPI_ERR_COMM);
    refused(MPI_Reduce(data, out, 1, MPI_INT, MPI_SUM, 0, c), MPI_ERR_COMM);
    refused(MPI_Allreduce(data, out, 1, MPI_INT, MPI_SUM, c), MPI_ERR_COMM);
    refused(MPI_Gather(data, 1, MPI_INT, out, 1, MPI_INT, 0, c), MPI_ERR_COMM);
    refused(MPI_Scatter(data, 1, MPI_INT, out, 1, MPI_INT, 0, c), MPI_ERR_COMM);
    refused(MPI_Allgather(data, 1, MPI_INT, out, 1, MPI_INT, c), MPI_ERR_COMM);
    refused(MPI_Alltoall(data, 1, MPI_INT, out, 1, MPI_INT, c), MPI_ERR_COMM);
    check(r == MPI_REQUEST_NULL);
}

static void as_datatype(MPI_Datatype t)
{
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Datatype copy = t, made;
    MPI_Aint low, extent;
    MPI_Count large;
    refused(MPI_Type_size(t, &number), MPI_ERR_TYPE);
    refused(MPI_Type_size_c(t, &large), MPI_ERR_TYPE);
    refused(MPI_Type_get_extent(t, &low, &extent), MPI_ERR_TYPE);
    refused(MPI_Type_dup(t, &made), MPI_ERR_TYPE);
    refused(MPI_Type_free(&copy), MPI_ERR_TYPE);
    refused(MPI_Get_count(&status, t, &number), MPI_ERR_TYPE);
    refused(MPI_Get_elements(&status, t, &number), MPI_ERR_TYPE);
    refused(MPI_Status_set_elements(&statuses[3], t, 1), MPI_ERR_TYPE);
    refused(MPI_Send(data, 1, t, MPI_PROC_NULL, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
    refused(MPI_Isend(data, 1, t, 0, 0, MPI_COMM_SELF, &r), MPI_ERR_TYPE);
    refused(MPI_Recv(data, 1, t, MPI_PROC_NULL, 0, MPI_COMM_SELF, &status), MPI_ERR_TYPE);
    refused(MPI_Irecv(data, 1, t, 0, 0, MPI_COMM_SELF, &r), MPI_ERR_TYPE);
    refused(MPI_Sendrecv(data, 1, MPI_INT, 0, 0, out, 1, t, 0, 0, MPI_COMM_SELF, &status), MPI_ERR_TYPE);
    refused(MPI_Bcast(data, 1, t, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
    refused(MPI_Reduce_local(data, out, 1, t, MPI_SUM), MPI_ERR_TYPE);
    refused(MPI_Allreduce(data, out, 1, t, MPI_SUM, MPI_COMM_SELF), MPI_ERR_TYPE);
    refused(MPI_Allgather(data, 1, MPI_INT, out, 1, t, MPI_COMM_SELF), MPI_ERR_TYPE);
    check(r == MPI_REQUEST_NULL);
}

static void as_operation(MPI_Op op)
{
    MPI_Op copy = op;
    refused(MPI_Op_commutative(op, &flag), MPI_ERR_OP);
    refused(MPI_Op_free(&copy), MPI_ERR_OP);
    refused(MPI_Reduce_local(data, out, 1, MPI_INT, op), MPI_ERR_OP);
    refused(MPI_Reduce(data, out, 1, MPI_INT, op, 0, MPI_COMM_SELF), MPI_ERR_OP);
    refused(MPI_Allreduce(data, out, 1, MPI_INT, op, MPI_COMM_SELF), MPI_ERR_OP);
}

static void as_request(MPI_Request word)
{
    MPI_Request r = word, pair[2] = {MPI_REQUEST_NULL, word};
    refused(MPI_Wait(&r, &status), MPI_ERR_REQUEST);
    refused(MPI_Test(&r, &flag, &status), MPI_ERR_REQUEST);
    refused(MPI_Request_get_status(r, &flag, &status), MPI_ERR_REQUEST);
    refused(MPI_Cancel(&r), MPI_ERR_REQUEST);
    refused(MPI_Request_free(&r), MPI_ERR_REQUEST);
    refused(MPI_Waitall(2, pair, statuses), MPI_ERR_REQUEST);
    refused(MPI_Waitany(2, pair, &number, &status), MPI_ERR_REQUEST);
    refused(MPI_Waitsome(2, pair, &number, numbers, statuses), MPI_ERR_REQUEST);
    refused(MPI_Testall(2, pair, &flag, statuses), MPI_ERR_REQUEST);
    refused(MPI_Testany(2, pair, &number, &flag, &status), MPI_ERR_REQUEST);
    refused(MPI_Testsome(2, pair, &number, numbers, statuses), MPI_ERR_REQUEST);
}

static void as_errhandler(MPI_Errhandler e)
{
    MPI_Errhandler copy = e;
    refused(MPI_Comm_set_errhandler(MPI_COMM_SELF, e), MPI_ERR_ERRHANDLER);
    refused(MPI_Errhandler_free(&copy), MPI_ERR_ERRHANDLER);
}

static void as_message(MPI_Message word)
{
    MPI_Message m = word;
    MPI_Request r = MPI_REQUEST_NULL;
    refused(MPI_Mrecv(data, 1, MPI_INT, &m, &status), MPI_ERR_REQUEST);
    refused(MPI_Imrecv(data, 1, MPI_INT, &m, &r), MPI_ERR_REQUEST);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return_errors();
    make_handles();
    make_words();
    for (int i = 0; i < word_count; i++) {
        now = words[i];
        if (!may_be_valid(COMM, now))
            as_communicator((MPI_Comm)now);
        if (!may_be_valid(TYPE, now))
            as_datatype((MPI_Datatype)now);
        if (!may_be_valid(OP, now))
            as_operation((MPI_Op)now);
        if (!may_be_valid(REQUEST, now))
            as_request((MPI_Request)now);
        if (!may_be_valid(ERRHANDLER, now))
            as_errhandler((MPI_Errhandler)now);
        if (!may_be_valid(MESSAGE, now))
            as_message((MPI_Message)now);
    }
    /* The valid objects are unchanged. */
    int sum = 0, one = 1;
    ok(MPI_Allreduce(&one, &sum, 1, (MPI_Datatype)valid[TYPE][0], MPI_SUM, (MPI_Comm)valid[COMM][0]));
    check_equal(sum, size);
    for (int i = 0; i < 2; i++) {
        MPI_Request request = (MPI_Request)valid[REQUEST][i];
        ok(MPI_Cancel(&request));
        ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    return finish();
}
