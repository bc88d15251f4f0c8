/* Handles as integers, by both names: predefined ones are their constants; those of live objects come back unchanged,
 * whatever else is live; those of freed objects, of other kinds and of no object give the null handle. */
#include "check.h"

#include <limits.h>

/* For each kind: the handle through both pairs of functions. */
#define COMES_BACK(KIND, handle)                                                                                       \
    do {                                                                                                               \
        int word = MPI_##KIND##_toint(handle);                                                                         \
        check(MPI_##KIND##_fromint(word) == (handle));                                                                 \
        check(MPI_##KIND##_c2f(handle) == word);                                                                       \
        check(MPI_##KIND##_f2c(word) == (handle));                                                                     \
    } while (0)

/* A predefined handle, whose integer the standard sets. */
#define IS(KIND, handle, value)                                                                                        \
    do {                                                                                                               \
        COMES_BACK(KIND, handle);                                                                                      \
        check_equal(MPI_##KIND##_toint(handle), value);                                                                \
    } while (0)

#define NULL_OF(KIND, word, null)                                                                                      \
    do {                                                                                                               \
        check(MPI_##KIND##_fromint(word) == (null));                                                                   \
        check(MPI_##KIND##_f2c(word) == (null));                                                                       \
    } while (0)

/* Integers that name no object of any kind. */
static const int nothing[] = {0, 1, 7, 4095, 4096, INT_MAX, INT_MIN, -1, -123456789};
#define NOTHING(KIND, null)                                                                                            \
    do {                                                                                                               \
        for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)                                                  \
            NULL_OF(KIND, nothing[i], null);                                                                           \
        check(MPI_##KIND##_fromint(MPI_##KIND##_toint(null)) == (null));                                               \
    } while (0)

static void predefined_ones(void)
{
    IS(Comm, MPI_COMM_WORLD, 257);
    IS(Comm, MPI_COMM_SELF, 258);
    IS(Comm, MPI_COMM_NULL, 256);
    IS(Group, MPI_GROUP_NULL, 264);
    IS(Group, MPI_GROUP_EMPTY, 265);
    IS(Type, MPI_DATATYPE_NULL, 512);
    IS(Type, MPI_INT, (int)(size_t)MPI_INT);
    IS(Type, MPI_INT64_T, (int)(size_t)MPI_INT64_T);
    IS(Type, MPI_DOUBLE_PRECISION, (int)(size_t)MPI_DOUBLE_PRECISION);
    IS(Op, MPI_OP_NULL, 32);
    IS(Op, MPI_SUM, 33);
    IS(Op, MPI_REPLACE, (int)(size_t)MPI_REPLACE);
    IS(Info, MPI_INFO_NULL, 304);
    IS(Info, MPI_INFO_ENV, 305);
    IS(Errhandler, MPI_ERRHANDLER_NULL, 320);
    IS(Errhandler, MPI_ERRORS_RETURN, 323);
    IS(Request, MPI_REQUEST_NULL, 384);
    IS(Message, MPI_MESSAGE_NULL, 296);
    IS(Message, MPI_MESSAGE_NO_PROC, 297);
    IS(Win, MPI_WIN_NULL, 272);
    IS(File, MPI_FILE_NULL, 280);
    IS(Session, MPI_SESSION_NULL, 288);
    /* A predefined handle of another kind. */
    NULL_OF(Comm, MPI_Type_toint(MPI_INT), MPI_COMM_NULL);
    NULL_OF(Type, MPI_Comm_toint(MPI_COMM_WORLD), MPI_DATATYPE_NULL);
}

static void nothing_at_all(void)
{
    NOTHING(Comm, MPI_COMM_NULL);
    NOTHING(Group, MPI_GROUP_NULL);
    NOTHING(Type, MPI_DATATYPE_NULL);
    NOTHING(Op, MPI_OP_NULL);
    NOTHING(Info, MPI_INFO_NULL);
    NOTHING(Errhandler, MPI_ERRHANDLER_NULL);
    NOTHING(Request, MPI_REQUEST_NULL);
    NOTHING(Message, MPI_MESSAGE_NULL);
    NOTHING(Win, MPI_WIN_NULL);
    NOTHING(File, MPI_FILE_NULL);
    NOTHING(Session, MPI_SESSION_NULL);
    /* Words that are no handle have the integer of the null handle. */
    check_equal(MPI_Comm_toint((MPI_Comm)(size_t)0x7fedcba987654321), 256);
    check_equal(MPI_Type_toint((MPI_Datatype)~(size_t)0), 512);
}

static void function(void *in, void *inout, int *length, MPI_Datatype *type)
{
}

static void handler(MPI_Comm *comm, int *code, ...)
{
}

/* Objects of all kinds at once, and their integers after they are freed. */
static void live_ones(void)
{
    static int data[2], memory[4];
    MPI_Comm comm;
    MPI_Group group;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Info info;
    MPI_Errhandler errhandler;
    MPI_Request sending, receiving;
    MPI_Message message;
    MPI_Win win;
    MPI_File file;
    MPI_Session session;
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    ok(MPI_Comm_group(comm, &group));
    ok(MPI_Type_dup(MPI_INT, &type));
    ok(MPI_Op_create(function, 1, &op));
    ok(MPI_Info_create(&info));
    ok(MPI_Comm_create_errhandler(handler, &errhandler));
    ok(MPI_Irecv(&data[0], 1, MPI_INT, 0, 5, MPI_COMM_SELF, &receiving));
    ok(MPI_Isend(&data[1], 1, MPI_INT, 0, 6, MPI_COMM_SELF, &sending));
    ok(MPI_Mprobe(0, 6, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE));
    ok(MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, comm, &win));
    ok(MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    ok(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    COMES_BACK(Comm, comm);
    COMES_BACK(Group, group);
    COMES_BACK(Type, type);
    COMES_BACK(Op, op);
    COMES_BACK(Info, info);
    COMES_BACK(Errhandler, errhandler);
    COMES_BACK(Request, receiving);
    COMES_BACK(Request, sending);
    COMES_BACK(Message, message);
    COMES_BACK(Win, win);
    COMES_BACK(File, file);
    COMES_BACK(Session, session);
    /* An integer names an object of one kind. */
    NULL_OF(Group, MPI_Comm_toint(comm), MPI_GROUP_NULL);
    NULL_OF(Comm, MPI_Type_toint(type), MPI_COMM_NULL);
    NULL_OF(Request, MPI_Comm_toint(comm), MPI_REQUEST_NULL);

    int words[12] = {MPI_Comm_toint(comm),    MPI_Group_toint(group),           MPI_Type_toint(type),
                     MPI_Op_toint(op),        MPI_Info_toint(info),             MPI_Errhandler_toint(errhandler),
                     MPI_Request_toint(receiving), MPI_Request_toint(sending),  MPI_Message_toint(message),
                     MPI_Win_toint(win),      MPI_File_toint(file),             MPI_Session_toint(session)};
    for (int i = 0; i < 12; i++)
        check(words[i] < 0);
    ok(MPI_Mrecv(&data[0], 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    ok(MPI_Wait(&sending, MPI_STATUS_IGNORE));
    ok(MPI_Cancel(&receiving));
    ok(MPI_Wait(&receiving, MPI_STATUS_IGNORE));
    ok(MPI_Win_free(&win));
    ok(MPI_File_close(&file));
    ok(MPI_Session_finalize(&session));
    ok(MPI_Errhandler_free(&errhandler));
    ok(MPI_Info_free(&info));
    ok(MPI_Op_free(&op));
    ok(MPI_Type_free(&type));
    ok(MPI_Group_free(&group));
    ok(MPI_Comm_free(&comm));
    NULL_OF(Comm, words[0], MPI_COMM_NULL);
    NULL_OF(Group, words[1], MPI_GROUP_NULL);
    NULL_OF(Type, words[2], MPI_DATATYPE_NULL);
    NULL_OF(Op, words[3], MPI_OP_NULL);
    NULL_OF(Info, words[4], MPI_INFO_NULL);
    NULL_OF(Errhandler, words[5], MPI_ERRHANDLER_NULL);
    NULL_OF(Request, words[6], MPI_REQUEST_NULL);
    NULL_OF(Request, words[7], MPI_REQUEST_NULL);
    NULL_OF(Message, words[8], MPI_MESSAGE_NULL);
    NULL_OF(Win, words[9], MPI_WIN_NULL);
    NULL_OF(File, words[10], MPI_FILE_NULL);
    NULL_OF(Session, words[11], MPI_SESSION_NULL);
}

/* Many requests of both tables: each integer names its own. */
static void many_requests(void)
{
    enum { MANY = 2000 };
    static MPI_Request requests[2 * MANY];
    static int in[MANY], out[MANY];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++) {
            ok(MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[2 * i]));
            ok(MPI_Isend(&out[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[2 * i + 1]));
        }
        for (int i = 0; i < 2 * MANY; i++)
            COMES_BACK(Request, requests[i]);
        /* Through the integers, as a library of Fortran does. */
        for (int i = 0; i < 2 * MANY; i++) {
            MPI_Request request = MPI_Request_f2c(MPI_Request_c2f(requests[i]));
            ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
    }
}

int main(int argc, char **argv)
{
    /* At any time: predefined handles, and info objects, exist before MPI_Init. */
    MPI_Info early, late;
    predefined_ones();
    nothing_at_all();
    ok(MPI_Info_create(&early));
    COMES_BACK(Info, early);
    begin(&argc, &argv);
    return_errors();
    COMES_BACK(Info, early);
    ok(MPI_Info_free(&early));
    predefined_ones();
    nothing_at_all();
    live_ones();
    live_ones();
    many_requests();
    int result = finish();
    predefined_ones();
    nothing_at_all();
    MPI_Info_create(&late);
    COMES_BACK(Info, late);
    MPI_Info_free(&late);
    return result || wrong;
}
