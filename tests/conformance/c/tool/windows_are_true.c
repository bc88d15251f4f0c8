/* The variables of a window agree with the counts of wrappers in this program, and the numbers of windows and of
 * allocations with the program's. With direct copies off, all operations on another process's memory that the
 * library has not allocated are messages. */
#include "tool.h"

enum { PUTS, GETS, ACCUMULATES, FETCHES, FENCES, KINDS };

static unsigned long long calls[KINDS], bytes[KINDS], away;

static int counted(int kind, int result, int target, int count, MPI_Datatype type)
{
    int each = 0;
    PMPI_Type_size(type, &each);
    if (target != MPI_PROC_NULL) {
        calls[kind]++;
        bytes[kind] += (unsigned long long)count * (unsigned long long)each;
        away += target != rank && count > 0;
    }
    return result;
}

int MPI_Put(const void *from, int count, MPI_Datatype type, int target, MPI_Aint at, int there, MPI_Datatype type_there,
            MPI_Win win)
{
    return counted(PUTS, PMPI_Put(from, count, type, target, at, there, type_there, win), target, count, type);
}

int MPI_Get(void *to, int count, MPI_Datatype type, int target, MPI_Aint at, int there, MPI_Datatype type_there,
            MPI_Win win)
{
    return counted(GETS, PMPI_Get(to, count, type, target, at, there, type_there, win), target, count, type);
}

int MPI_Accumulate(const void *from, int count, MPI_Datatype type, int target, MPI_Aint at, int there,
                   MPI_Datatype type_there, MPI_Op op, MPI_Win win)
{
    return counted(ACCUMULATES, PMPI_Accumulate(from, count, type, target, at, there, type_there, op, win), target,
                   count, type);
}

int MPI_Get_accumulate(const void *from, int count, MPI_Datatype type, void *to, int result_count,
                       MPI_Datatype result_type, int target, MPI_Aint at, int there, MPI_Datatype type_there, MPI_Op op,
                       MPI_Win win)
{
    int result = PMPI_Get_accumulate(from, count, type, to, result_count, result_type, target, at, there, type_there,
                                     op, win);
    return counted(FETCHES, result, target, result_count, result_type);
}

int MPI_Fetch_and_op(const void *from, void *to, MPI_Datatype type, int target, MPI_Aint at, MPI_Op op, MPI_Win win)
{
    return counted(FETCHES, PMPI_Fetch_and_op(from, to, type, target, at, op, win), target, 1, type);
}

int MPI_Win_fence(int assert, MPI_Win win)
{
    calls[FENCES]++;
    return PMPI_Win_fence(assert, win);
}

static void traffic(MPI_Win win)
{
    int in[10] = {0}, out[10];
    ok(MPI_Win_fence(0, win));
    for (int i = 0; i < 7; i++)
        ok(MPI_Put(in, i, MPI_INT, (rank + i) % size, 0, i, MPI_INT, win));
    ok(MPI_Put(in, 3, MPI_INT, MPI_PROC_NULL, 0, 3, MPI_INT, win));
    ok(MPI_Win_fence(0, win));
    for (int i = 0; i < 5; i++)
        ok(MPI_Get(out, 2, MPI_INT, (rank + i) % size, 0, 2, MPI_INT, win));
    ok(MPI_Win_fence(0, win));
    for (int i = 0; i < 4; i++)
        ok(MPI_Accumulate(in, 3, MPI_INT, (rank + i) % size, 0, 3, MPI_INT, MPI_SUM, win));
    ok(MPI_Get_accumulate(in, 4, MPI_INT, out, 4, MPI_INT, 0, 0, 4, MPI_INT, MPI_SUM, win));
    ok(MPI_Fetch_and_op(in, out, MPI_INT, 0, 0, MPI_SUM, win));
    ok(MPI_Win_fence(0, win));
}

static MPI_T_pvar_handle of_window(MPI_T_pvar_session session, const char *name, int class, MPI_Win win)
{
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    int count = -1;
    ok(MPI_T_pvar_handle_alloc(session, find_pvar(name, class), &win, &handle, &count));
    check_equal(count, 1);
    ok(MPI_T_pvar_start(session, handle));
    return handle;
}

int main(int argc, char **argv)
{
    static const struct { const char *calls, *bytes; } names[KINDS] = {{"win_puts", "win_put_bytes"},
                                                                       {"win_gets", "win_get_bytes"},
                                                                       {"win_accumulates", "win_accumulate_bytes"},
                                                                       {"win_fetches", "win_fetch_bytes"},
                                                                       {"win_fences", NULL}};
    MPI_T_pvar_session session;
    MPI_T_pvar_handle of_calls[KINDS], of_bytes[KINDS], sent, windows, allocations;
    MPI_T_cvar_handle direct;
    MPI_Win win, idle;
    int memory[16] = {0}, index, count, off = 0, on = 1;
    void *block;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    windows = watch(session, "objects_windows", MPI_T_PVAR_CLASS_LEVEL, MPI_COMM_NULL);
    allocations = watch(session, "memory_alloc_mem_calls", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL);
    ok(MPI_Alloc_mem(64, MPI_INFO_NULL, &block));
    ok(MPI_Free_mem(block));
    ok(MPI_Alloc_mem(1, MPI_INFO_NULL, &block));
    ok(MPI_Free_mem(block));
    check_equal(read_pvar(session, allocations), 2);
    ok(MPI_T_cvar_get_index("win_direct", &index));
    ok(MPI_T_cvar_handle_alloc(index, NULL, &direct, &count));
    ok(MPI_T_cvar_write(direct, &off));
    ok(MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    ok(MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &idle));
    check_equal(read_pvar(session, windows), 2);
    for (int kind = 0; kind < KINDS; kind++) {
        of_calls[kind] = of_window(session, names[kind].calls, MPI_T_PVAR_CLASS_COUNTER, win);
        if (names[kind].bytes)
            of_bytes[kind] = of_window(session, names[kind].bytes, MPI_T_PVAR_CLASS_AGGREGATE, win);
    }
    sent = of_window(session, "win_operations_sent", MPI_T_PVAR_CLASS_COUNTER, win);
    traffic(win);
    for (int kind = 0; kind < KINDS; kind++) {
        check_equal(read_pvar(session, of_calls[kind]), calls[kind]);
        if (names[kind].bytes)
            check_equal(read_pvar(session, of_bytes[kind]), bytes[kind]);
    }
    check_equal(read_pvar(session, sent), away);
    check_equal(read_pvar(session, of_window(session, "win_fences", MPI_T_PVAR_CLASS_COUNTER, idle)), 0);
    ok(MPI_T_cvar_write(direct, &on));
    ok(MPI_T_pvar_session_free(&session));
    ok(MPI_T_pvar_session_create(&session));
    ok(MPI_Win_free(&win));
    windows = watch(session, "objects_windows", MPI_T_PVAR_CLASS_LEVEL, MPI_COMM_NULL);
    check_equal(read_pvar(session, windows), 1);
    ok(MPI_Win_free(&idle));
    check_equal(read_pvar(session, windows), 0);
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
