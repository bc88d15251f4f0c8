/* The text of an error has the wrong values and the limits that they exceed: sizes, source, tag, communicator, rank. */
#include "errors/text.h"

static void truncation(MPI_Comm comm)
{
    char data[32] = {0};
    MPI_Request request;
    int code;
    ok(MPI_Irecv(data, 16, MPI_CHAR, rank, 77, comm, &request));
    ok(MPI_Send(data, 32, MPI_CHAR, rank, 77, comm));
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_class(code, MPI_ERR_TRUNCATE);
    char source[40];
    snprintf(source, sizeof source, "from rank %d", rank);
    check(has(code, "MPI_Wait") && has(code, "32 bytes") && has(code, "16 bytes") && has(code, "77"));
    check(has(code, source) && has(code, "\"the fifth\""));

    /* The same where the message waits for its receive, and where it is long. */
    ok(MPI_Isend(data, 32, MPI_CHAR, rank, 78, comm, &request));
    code = MPI_Recv(data, 3, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
    check_class(code, MPI_ERR_TRUNCATE);
    check(has(code, "MPI_Recv") && has(code, "32 bytes") && has(code, "room for 3 bytes") && has(code, "78"));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    enum { LONG = 3000000 };
    char *memory = calloc(1, LONG);
    ok(MPI_Isend(memory, LONG, MPI_CHAR, rank, 79, comm, &request));
    code = MPI_Recv(data, 5, MPI_CHAR, rank, 79, comm, MPI_STATUS_IGNORE);
    check(has(code, "3000000 bytes") && has(code, "room for 5 bytes") && has(code, "79"));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    free(memory);
}

static void matched(MPI_Comm comm)
{
    int data[4] = {0}, code;
    MPI_Message message;
    MPI_Request request, sending;
    ok(MPI_Isend(data, 4, MPI_INT, rank, 5, comm, &sending));
    ok(MPI_Mprobe(rank, 5, comm, &message, MPI_STATUS_IGNORE));
    ok(MPI_Imrecv(data, 1, MPI_INT, &message, &request));
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_class(code, MPI_ERR_TRUNCATE);
    check(has(code, "\"the fifth\"") && has(code, "16 bytes") && has(code, "room for 4 bytes"));
    ok(MPI_Wait(&sending, MPI_STATUS_IGNORE));
}

static void statuses(MPI_Comm comm)
{
    int data[3][4] = {{0}}, code;
    MPI_Request requests[3];
    MPI_Status list[3];
    for (int i = 0; i < 3; i++)
        ok(MPI_Irecv(data[i], i == 1 ? 4 : 1, MPI_INT, rank, i, comm, &requests[i]));
    for (int i = 0; i < 3; i++)
        ok(MPI_Send(data[1], 4, MPI_INT, rank, i, comm));
    code = MPI_Waitall(3, requests, list);
    check_equal(code, MPI_ERR_IN_STATUS);
    ok(list[1].MPI_ERROR);
    for (int i = 0; i < 3; i += 2) {
        char tag[20];
        snprintf(tag, sizeof tag, "tag %d", i);
        check_class(list[i].MPI_ERROR, MPI_ERR_TRUNCATE);
        check(has(list[i].MPI_ERROR, tag) && has(list[i].MPI_ERROR, "\"the fifth\""));
    }
}

/* The processes' arguments of a collective do not match: the text has no tag, because the program chose none. */
static void collective(MPI_Comm comm)
{
    int data[64] = {0}, code;
    if (size < 2)
        return;
    code = MPI_Bcast(data, rank == 0 ? 64 : 3, MPI_INT, 0, comm);
    if (rank > 0) {
        check(code != MPI_SUCCESS);
        check(has(code, "MPI_Bcast") && has(code, "256 bytes") && has(code, "12 ") && has(code, "\"the fifth\""));
        check(lacks(code, "tag"));
    }
    code = MPI_Bcast(data, rank == 0 ? 3 : 64, MPI_INT, 0, comm);
    if (rank > 0) {
        check(code != MPI_SUCCESS);
        check(has(code, "MPI_Bcast") && has(code, "256 ") && has(code, "12 bytes") && lacks(code, "tag"));
    }
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    char ranks[40];
    int word = 0, code;
    begin(&argc, &argv);
    return_errors();
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    ok(MPI_Comm_set_name(comm, "the fifth"));
    truncation(comm);
    matched(comm);
    statuses(comm);
    MPI_Barrier(MPI_COMM_WORLD);
    collective(comm);
    MPI_Barrier(MPI_COMM_WORLD);

    code = MPI_Send(&word, 1, MPI_INT, size + 9, 0, comm);
    snprintf(ranks, sizeof ranks, "dest is %d", size + 9);
    check(has(code, ranks) && has(code, "\"the fifth\"") && has(code, "MPI_Send"));
    snprintf(ranks, sizeof ranks, "has %d process", size);
    check(has(code, ranks));
    code = MPI_Bcast(&word, 1, MPI_INT, -4, comm);
    check(has(code, "root is -4"));
    code = MPI_Send(&word, -3, MPI_INT, 0, 0, comm);
    check(has(code, "count is -3"));
    code = MPI_Send(&word, 1, MPI_INT, 0, -8, comm);
    check(has(code, "tag is -8"));
    /* A call without a communicator does not name one. */
    code = MPI_Barrier(MPI_COMM_NULL);
    check(has(code, "MPI_COMM_NULL") && lacks(code, "MPI_COMM_SELF"));
    code = MPI_Send(&word, 1, MPI_INT, 0, 0, (MPI_Comm)(size_t)0x123456789);
    check(lacks(code, "MPI_COMM_SELF"));
    ok(MPI_Comm_free(&comm));
    return finish();
}
