/* A read stores exactly count elements of the variable's type, and a write reads no byte more: every variable that
 * can be bound here, in memory that ends where the value ends. */
#define _DEFAULT_SOURCE
#include "tool/tool.h"
#include <sys/mman.h>
#include <unistd.h>

enum { ROOM = 65536 };
/* The last byte that can be accessed is the one before it. */
static unsigned char *end;

/* The address of an object that a variable of this kind can be bound to; NULL if this program has none. */
static void *object_of(int bind)
{
    static MPI_Comm comm = MPI_COMM_WORLD;
    static MPI_Datatype type = MPI_INT;
    static MPI_Errhandler errhandler = MPI_ERRORS_RETURN;
    switch (bind) {
    case MPI_T_BIND_NO_OBJECT: return &comm;
    case MPI_T_BIND_MPI_COMM: return &comm;
    case MPI_T_BIND_MPI_DATATYPE: return &type;
    case MPI_T_BIND_MPI_ERRHANDLER: return &errhandler;
    default: return NULL;
    }
}

static void make_room(void)
{
    long page = sysconf(_SC_PAGESIZE);
    unsigned char *memory = mmap(NULL, ROOM + (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(memory != MAP_FAILED && ROOM % page == 0);
    end = memory + ROOM;
    check(mprotect(end, (size_t)page, PROT_NONE) == 0);
}

static MPI_T_pvar_session session;
static MPI_T_pvar_handle pvar;
static MPI_T_cvar_handle cvar;

static int read_it(int is_pvar, void *at)
{
    return is_pvar ? MPI_T_pvar_read(session, pvar, at) : MPI_T_cvar_read(cvar, at);
}

static int write_it(int is_pvar, const void *at)
{
    return is_pvar ? MPI_T_pvar_write(session, pvar, at) : MPI_T_cvar_write(cvar, at);
}

/* Reads `length` bytes at the end of the memory, and some before it, with several fill bytes: a byte that always has
 * the fill value was not stored. */
static void exactly(int is_pvar, size_t length, int is_text, const char *name)
{
    static const unsigned char marks[] = {0xa5, 0x5a, 0x3c, 0xc3};
    unsigned char *at = end - length, *in_the_middle = end - ROOM / 2;
    int unstored[ROOM / 2] = {0}, before = wrong;
    for (int m = 0; m < 4; m++) {
        memset(end - ROOM, marks[m], ROOM);
        ok(read_it(is_pvar, at));
        for (unsigned char *byte = end - ROOM; byte < at; byte++)
            check(*byte == marks[m]);
        /* A text is stored up to its end. */
        for (size_t i = 0; i < (is_text ? strlen((char *)at) + 1 : length); i++)
            unstored[i] += at[i] == marks[m];
        memset(end - ROOM, marks[m], ROOM);
        ok(read_it(is_pvar, in_the_middle));
        for (unsigned char *byte = in_the_middle + length; byte < end; byte++)
            check(*byte == marks[m]);
    }
    for (size_t i = 0; i < length; i++)
        check(unstored[i] < 4);
    ok(read_it(is_pvar, at));
    int code = write_it(is_pvar, at);
    check(code == MPI_SUCCESS || code == MPI_T_ERR_PVAR_NO_WRITE || code == MPI_T_ERR_CVAR_SET_NEVER);
    if (is_pvar) {
        code = MPI_T_pvar_readreset(session, pvar, at);
        check(code == MPI_SUCCESS || code == MPI_T_ERR_PVAR_NO_ATOMIC);
    }
    if (wrong > before)
        fprintf(stderr, "... of %s, %zu bytes\n", name, length);
}

static int pvars(void)
{
    int number = 0, tried = 0;
    ok(MPI_T_pvar_session_create(&session));
    ok(MPI_T_pvar_get_num(&number));
    for (int i = 0; i < number; i++) {
        struct pvar_info info = pvar_info(i);
        int count = -1, width = 0;
        void *object = object_of(info.bind);
        if (object == NULL || MPI_T_pvar_handle_alloc(session, i, object, &pvar, &count) != MPI_SUCCESS)
            continue;
        check(count >= 1);
        ok(MPI_Type_size(info.type, &width));
        exactly(1, (size_t)count * (size_t)width, 0, info.name);
        if (!info.continuous) {
            ok(MPI_T_pvar_start(session, pvar));
            exactly(1, (size_t)count * (size_t)width, 0, info.name);
        }
        if (strstr(info.name, "peer") != NULL && info.bind == MPI_T_BIND_MPI_COMM)
            check_equal(count, size);
        ok(MPI_T_pvar_handle_free(session, &pvar));
        tried++;
    }
    ok(MPI_T_pvar_session_free(&session));
    return tried;
}

static int cvars(void)
{
    int number = 0, tried = 0;
    ok(MPI_T_cvar_get_num(&number));
    for (int i = 0; i < number; i++) {
        int name_length = 256, bind, count = -1, width;
        char name[256];
        MPI_Datatype type;
        ok(MPI_T_cvar_get_info(i, name, &name_length, NULL, &type, NULL, NULL, NULL, &bind, NULL));
        void *object = object_of(bind);
        if (object == NULL || MPI_T_cvar_handle_alloc(i, object, &cvar, &count) != MPI_SUCCESS)
            continue;
        ok(MPI_Type_size(type, &width));
        check(type == MPI_CHAR ? count > 1 : count == 1);
        exactly(0, (size_t)count * (size_t)width, type == MPI_CHAR, name);
        ok(MPI_T_cvar_handle_free(&cvar));
        tried++;
    }
    return tried;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    tool_begin();
    make_room();
    check(pvars() > 10);
    check(cvars() > 10);
    MPI_T_finalize();
    return finish();
}
