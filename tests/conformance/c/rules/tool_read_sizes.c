/* A read stores exactly count elements of the variable's type, and not a byte more: every variable that can be bound here. */
#include "tool/tool.h"

enum { ROOM = 65536 };
static unsigned char memory[ROOM];

/* The address of an object that a variable of this kind can be bound to; NULL where there is none here. */
static void *object_of(int bind)
{
    static MPI_Comm comm = MPI_COMM_WORLD;
    static MPI_Datatype type = MPI_INT;
    static MPI_Errhandler errhandler = MPI_ERRORS_RETURN;
    switch (bind) {
    case MPI_T_BIND_NO_OBJECT: return memory;
    case MPI_T_BIND_MPI_COMM: return &comm;
    case MPI_T_BIND_MPI_DATATYPE: return &type;
    case MPI_T_BIND_MPI_ERRHANDLER: return &errhandler;
    default: return NULL;
    }
}

static void nothing_behind(size_t length, const char *name)
{
    for (size_t i = length; i < ROOM; i++)
        if (memory[i] != 0xa5) {
            fprintf(stderr, "%s: byte %zu was written, though the value has %zu\n", name, i, length);
            wrong++;
            return;
        }
}

int main(int argc, char **argv)
{
    MPI_T_pvar_session session;
    int number = 0, tried = 0;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    ok(MPI_T_pvar_get_num(&number));
    for (int i = 0; i < number; i++) {
        struct pvar_info info = pvar_info(i);
        MPI_T_pvar_handle handle;
        int count = -1, width = 0;
        void *object = object_of(info.bind);
        if (object == NULL || MPI_T_pvar_handle_alloc(session, i, object, &handle, &count) != MPI_SUCCESS)
            continue;
        check(count >= 1);
        ok(MPI_Type_size(info.type, &width));
        memset(memory, 0xa5, sizeof memory);
        ok(MPI_T_pvar_read(session, handle, memory));
        nothing_behind((size_t)count * (size_t)width, info.name);
        if (strstr(info.name, "peer") != NULL && info.bind == MPI_T_BIND_MPI_COMM)
            check_equal(count, size);
        ok(MPI_T_pvar_handle_free(session, &handle));
        tried++;
    }
    check(tried > 10);
    ok(MPI_T_cvar_get_num(&number));
    for (int i = 0; i < number; i++) {
        int name_length = 256, bind, count, width;
        char name[256];
        MPI_Datatype type;
        MPI_T_cvar_handle handle;
        ok(MPI_T_cvar_get_info(i, name, &name_length, NULL, &type, NULL, NULL, NULL, &bind, NULL));
        void *object = object_of(bind);
        if (object == NULL || MPI_T_cvar_handle_alloc(i, object, &handle, &count) != MPI_SUCCESS)
            continue;
        ok(MPI_Type_size(type, &width));
        memset(memory, 0xa5, sizeof memory);
        ok(MPI_T_cvar_read(handle, memory));
        nothing_behind((size_t)count * (size_t)width, name);
        ok(MPI_T_cvar_handle_free(&handle));
    }
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
