/* Each error class that this library raises, raised by the misuse in docs/error-classes.md. A test of mpi-errors
 * fails if a class of that table has neither a line here nor a program of its own. */
#define _GNU_SOURCE
#include "file/file.h"
#include "tool/tool.h"

/* The call returns this class; the text of the code or of its class contains the name. */
#define RAISES(class, call) check_class(call, class)
/* The tools interface returns classes, not codes. */
#define RETURNS(class, call) check_equal(call, class)

static MPI_Comm world;

static void messages(void)
{
    int word = 0, other[2] = {0}, flag;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Comm grid;
    RAISES(MPI_ERR_BUFFER, MPI_Send(NULL, 1, MPI_INT, 0, 0, world));
    RAISES(MPI_ERR_COUNT, MPI_Send(&word, -1, MPI_INT, 0, 0, world));
    RAISES(MPI_ERR_TYPE, MPI_Send(&word, 1, MPI_DATATYPE_NULL, 0, 0, world));
    RAISES(MPI_ERR_TAG, MPI_Send(&word, 1, MPI_INT, 0, -7, world));
    RAISES(MPI_ERR_COMM, MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
    RAISES(MPI_ERR_RANK, MPI_Send(&word, 1, MPI_INT, size, 0, world));
    RAISES(MPI_ERR_REQUEST, MPI_Request_free(&request));
    RAISES(MPI_ERR_ROOT, MPI_Bcast(&word, 1, MPI_INT, size, world));
    RAISES(MPI_ERR_OP, MPI_Allreduce(&word, &flag, 1, MPI_INT, MPI_OP_NULL, world));
    RAISES(MPI_ERR_ARG, MPI_Comm_rank(world, NULL));
    RAISES(MPI_ERR_TOPOLOGY, MPI_Cartdim_get(world, &flag));
    RAISES(MPI_ERR_DIMS, MPI_Cart_create(world, 1, (int[]){size + 1}, (int[]){0}, 0, &grid));
    for (int i = 0; i < 2; i++) {
        ok(MPI_Irecv(&word, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request));
        ok(MPI_Send(other, 2, MPI_INT, 0, 3, MPI_COMM_SELF));
        if (i == 0)
            RAISES(MPI_ERR_TRUNCATE, MPI_Wait(&request, &status));
        else
            RAISES(MPI_ERR_IN_STATUS, MPI_Waitall(1, &request, &status));
    }
}

static void other_objects(void)
{
    int number, keyval = 123456, flag;
    char *memory, longer[MPI_MAX_INFO_VAL + 10];
    void *value;
    MPI_Info info;
    MPI_Session session = MPI_SESSION_NULL;
    RAISES(MPI_ERR_GROUP, MPI_Group_size(MPI_GROUP_NULL, &number));
    RAISES(MPI_ERR_OTHER, MPI_Init(NULL, NULL));
    RAISES(MPI_ERR_KEYVAL, MPI_Comm_get_attr(world, keyval, &value, &flag));
    RAISES(MPI_ERR_ERRHANDLER, MPI_Comm_set_errhandler(world, MPI_ERRHANDLER_NULL));
    RAISES(MPI_ERR_SESSION, MPI_Session_finalize(&session));
    RAISES(MPI_ERR_NO_MEM, MPI_Alloc_mem((MPI_Aint)1 << 60, MPI_INFO_NULL, &memory));
    RAISES(MPI_ERR_BASE, MPI_Free_mem(&number));

    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = 0;
    ok(MPI_Info_create(&info));
    RAISES(MPI_ERR_INFO, MPI_Info_set(MPI_INFO_NULL, "key", "value"));
    RAISES(MPI_ERR_INFO_NOKEY, MPI_Info_delete(info, "key"));
    RAISES(MPI_ERR_INFO_VALUE, MPI_Info_set(info, "key", longer));
    longer[MPI_MAX_INFO_KEY + 5] = 0;
    RAISES(MPI_ERR_INFO_KEY, MPI_Info_set(info, longer, "value"));
    ok(MPI_Info_free(&info));
}

static void windows(void)
{
    char memory[64];
    MPI_Win win;
    RAISES(MPI_ERR_SIZE, MPI_Win_create(memory, -1, 1, MPI_INFO_NULL, world, &win));
    RAISES(MPI_ERR_DISP, MPI_Win_create(memory, 64, -1, MPI_INFO_NULL, world, &win));
    RAISES(MPI_ERR_WIN, MPI_Win_fence(0, MPI_WIN_NULL));
    ok(MPI_Win_create(memory, 64, 1, MPI_INFO_NULL, world, &win));
    ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    RAISES(MPI_ERR_RMA_SYNC, MPI_Put(memory, 1, MPI_CHAR, 0, 0, 1, MPI_CHAR, win));
    RAISES(MPI_ERR_ASSERT, MPI_Win_fence(-1, win));
    ok(MPI_Win_fence(0, win));
    RAISES(MPI_ERR_RMA_RANGE, MPI_Put(memory, 1, MPI_CHAR, 0, 64, 1, MPI_CHAR, win));
    ok(MPI_Win_fence(0, win));
    ok(MPI_Win_free(&win));
}

static void files(void)
{
    char name[NAME], pipe[NAME], data[4] = "abc";
    MPI_Offset bytes;
    MPI_File file;
    const MPI_Info none = MPI_INFO_NULL;
    const MPI_Comm self = MPI_COMM_SELF;
    name_of(name, "class");
    snprintf(name + strlen(name), 20, "-%d", rank);
    snprintf(pipe, NAME, "%.200s.pipe", name);
    RAISES(MPI_ERR_FILE, MPI_File_get_size(MPI_FILE_NULL, &bytes));
    RAISES(MPI_ERR_NO_SUCH_FILE, MPI_File_open(self, name, MPI_MODE_RDONLY, none, &file));
    RAISES(MPI_ERR_AMODE, MPI_File_open(self, name, MPI_MODE_RDONLY | MPI_MODE_WRONLY, none, &file));
    RAISES(MPI_ERR_BAD_FILE, MPI_File_open(self, "", MPI_MODE_RDONLY, none, &file));
    make(name, data, 3);
    RAISES(MPI_ERR_FILE_EXISTS,
           MPI_File_open(self, name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, none, &file));
    RAISES(MPI_ERR_FILE_IN_USE, MPI_File_open(self, "/proc/self/exe", MPI_MODE_WRONLY, none, &file));
    ok(MPI_File_open(self, name, MPI_MODE_RDONLY, none, &file));
    RAISES(MPI_ERR_UNSUPPORTED_DATAREP, MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "strange", none));
    RAISES(MPI_ERR_READ_ONLY, MPI_File_write(file, data, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    ok(MPI_File_close(&file));
    ok(MPI_File_open(self, name, MPI_MODE_WRONLY, none, &file));
    RAISES(MPI_ERR_ACCESS, MPI_File_read(file, data, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    ok(MPI_File_close(&file));
    ok(MPI_File_open(self, "/dev/full", MPI_MODE_WRONLY, none, &file));
    RAISES(MPI_ERR_NO_SPACE, MPI_File_write(file, data, 3, MPI_CHAR, MPI_STATUS_IGNORE));
    ok(MPI_File_close(&file));
    ok(MPI_File_open(self, "/proc/self/mem", MPI_MODE_RDONLY, none, &file));
    RAISES(MPI_ERR_IO, MPI_File_read_at(file, 0, data, 3, MPI_CHAR, MPI_STATUS_IGNORE));
    ok(MPI_File_close(&file));
    check_equal(mkfifo(pipe, 0600), 0);
    ok(MPI_File_open(self, pipe, MPI_MODE_RDWR, none, &file));
    RAISES(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_get_size(file, &bytes));
    ok(MPI_File_close(&file));
    unlink(pipe);
    ok(MPI_File_delete(name, none));
    if (size > 1) {
        int mode = rank == 0 ? MPI_MODE_RDONLY : MPI_MODE_RDWR;
        RAISES(MPI_ERR_NOT_SAME, MPI_File_open(world, "/dev/null", mode, none, &file));
    }
}

/* The first variable with this property, by index. */
static int pvar_that(int (*fits)(const struct pvar_info *))
{
    int number = 0;
    ok(MPI_T_pvar_get_num(&number));
    for (int i = 0; i < number; i++) {
        struct pvar_info info = pvar_info(i);
        if ((info.bind == MPI_T_BIND_NO_OBJECT || info.bind == MPI_T_BIND_MPI_COMM) && fits(&info))
            return i;
    }
    check(!"a variable of that kind exists");
    return 0;
}

static int is_readonly(const struct pvar_info *info)
{
    return info->readonly;
}

static int is_not_atomic(const struct pvar_info *info)
{
    return !info->atomic;
}

static void tools(void)
{
    int number, index, count;
    unsigned long long value[64] = {0};
    MPI_T_pvar_session session, none = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_handle handle;
    MPI_T_cvar_handle cvar;
    RETURNS(MPI_T_ERR_NOT_INITIALIZED, MPI_T_cvar_get_num(&number));
    tool_begin();
    RETURNS(MPI_T_ERR_INVALID, MPI_T_cvar_get_num(NULL));
    RETURNS(MPI_T_ERR_INVALID_INDEX, MPI_T_cvar_handle_alloc(-1, NULL, &cvar, &count));
    RETURNS(MPI_T_ERR_INVALID_NAME, MPI_T_cvar_get_index("no such variable", &index));
    RETURNS(MPI_T_ERR_INVALID_SESSION, MPI_T_pvar_session_free(&none));
    ok(MPI_T_pvar_session_create(&session));
    RETURNS(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_read(session, MPI_T_PVAR_HANDLE_NULL, value));
    ok(MPI_T_pvar_handle_alloc(session, pvar_that(is_readonly), &world, &handle, &count));
    RETURNS(MPI_T_ERR_PVAR_NO_WRITE, MPI_T_pvar_write(session, handle, value));
    ok(MPI_T_pvar_handle_free(session, &handle));
    ok(MPI_T_pvar_handle_alloc(session, pvar_that(is_not_atomic), &world, &handle, &count));
    RETURNS(MPI_T_ERR_PVAR_NO_ATOMIC, MPI_T_pvar_readreset(session, handle, value));
    ok(MPI_T_pvar_handle_free(session, &handle));
    ok(MPI_T_pvar_session_free(&session));

    MPI_T_finalize();
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    return_errors();
    world = MPI_COMM_WORLD;
    messages();
    other_objects();
    windows();
    files();
    tools();
    return finish();
}
