/* The numbers of groups, communicators, windows and files derived from a session, directly or through other objects,
 * agree with the program's counts; objects of another session and of the world model are not counted. */
#include "bound.h"
#include "file/file.h"

enum { LEVEL = MPI_T_PVAR_CLASS_LEVEL, MOST = MPI_T_PVAR_CLASS_HIGHWATERMARK };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle groups, comms, most, windows, files;

static void holds(int of_groups, int of_comms, int of_windows, int of_files)
{
    check_equal(read_pvar(session, groups), of_groups);
    check_equal(read_pvar(session, comms), of_comms);
    check_equal(read_pvar(session, windows), of_windows);
    check_equal(read_pvar(session, files), of_files);
}

static void ask_about(MPI_Session *of)
{
    groups = watch_object(session, "objects_session_groups", LEVEL, of);
    comms = watch_object(session, "objects_session_communicators", LEVEL, of);
    most = watch_object(session, "objects_session_communicators", MOST, of);
    windows = watch_object(session, "objects_session_windows", LEVEL, of);
    files = watch_object(session, "objects_session_files", LEVEL, of);
}

int main(int argc, char **argv)
{
    MPI_Session first, second;
    MPI_Group all, part, both, of_comm, of_win, of_world, others;
    MPI_Comm comm, dup, later, half, own, small, other, world_dup;
    MPI_Request request;
    MPI_Win win, world_win;
    MPI_File file;
    char name[NAME], mine[32];
    int zero = 0, *memory;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    ok(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &first));
    ok(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &second));

    /* Objects that exist before the handle are counted when it is allocated. */
    ok(MPI_Group_from_session_pset(first, "mpi://WORLD", &all));
    ok(MPI_Comm_create_from_group(all, "session_objects", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    ask_about(&first);
    holds(1, 1, 0, 0);

    ok(MPI_Group_incl(all, 1, &zero, &part));
    ok(MPI_Group_union(part, all, &both));
    ok(MPI_Comm_group(comm, &of_comm));
    holds(4, 1, 0, 0);
    ok(MPI_Comm_dup(comm, &dup));
    ok(MPI_Comm_idup(dup, &later, &request));
    ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    ok(MPI_Comm_split(later, rank % 2, 0, &half));
    ok(MPI_Comm_create(comm, part, &small));
    check((small != MPI_COMM_NULL) == (rank == 0));
    ok(MPI_Group_from_session_pset(first, "mpi://SELF", &others));
    ok(MPI_Comm_create_from_group(others, "own", MPI_INFO_NULL, MPI_ERRORS_RETURN, &own));
    holds(5, 5 + (rank == 0), 0, 0);
    ok(MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, half, &memory, &win));
    ok(MPI_Win_get_group(win, &of_win));
    snprintf(mine, sizeof mine, "session-%d", rank);
    name_of(name, mine);
    ok(MPI_File_open(own, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    holds(6, 5 + (rank == 0), 1, 1);

    /* Objects of another session and of the world model. */
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &world_dup));
    ok(MPI_Comm_group(world_dup, &of_world));
    ok(MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, world_dup, &memory, &world_win));
    MPI_Group second_self;
    ok(MPI_Group_from_session_pset(second, "mpi://SELF", &second_self));
    ok(MPI_Comm_create_from_group(second_self, "other", MPI_INFO_NULL, MPI_ERRORS_RETURN, &other));
    holds(6, 5 + (rank == 0), 1, 1);
    MPI_T_pvar_handle of_second = watch_object(session, "objects_session_communicators", LEVEL, &second);
    check_equal(read_pvar(session, of_second), 1);
    ok(MPI_Comm_free(&other));
    check_equal(read_pvar(session, of_second), 0);

    ok(MPI_File_close(&file));
    ok(MPI_Win_free(&win));
    holds(6, 5 + (rank == 0), 0, 0);
    MPI_Comm *made[] = {&comm, &dup, &later, &half, &own};
    for (int i = 0; i < 5; i++) {
        ok(MPI_Comm_free(made[i]));
        check_equal(read_pvar(session, comms), 4 - i + (rank == 0));
    }
    if (small != MPI_COMM_NULL)
        ok(MPI_Comm_free(&small));
    check_equal(read_pvar(session, most), 5 + (rank == 0));
    MPI_Group *left[] = {&all, &part, &both, &of_comm, &others, &of_win, &of_world, &second_self};
    for (int i = 0; i < 8; i++)
        ok(MPI_Group_free(left[i]));
    holds(0, 0, 0, 0);
    ok(MPI_Win_free(&world_win));
    ok(MPI_Comm_free(&world_dup));
    ok(MPI_Session_finalize(&first));
    check_ended(session, comms);
    check_ended(session, windows);
    ok(MPI_Session_finalize(&second));
    ok(MPI_T_pvar_session_free(&session));
    ok(MPI_T_finalize());
    return finish();
}
