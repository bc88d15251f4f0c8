/* Performs one kind of call as often as the argument states, each through a function of its own, which is what
 * callgrind counts; the second argument selects it. The harness subtracts the counts of two runs, which removes costs
 * that occur once. `window` moves as many windows of 64 messages of 8 bytes; the receiver detects through shared memory
 * that a window has arrived, so that the count repeats. */
#include "bench.h"

enum { WINDOW = 64 };

static MPI_Comm copy;
static MPI_Request requests[WINDOW];
static long words[WINDOW];
static int number, flag, length, code, class;
static char text[MPI_MAX_ERROR_STRING];
static volatile double seconds;
static long long value[64];
static MPI_T_pvar_session session;
static MPI_T_pvar_handle handle, array;

#define call(name, ...)                                                                                                \
    __attribute__((noinline)) void one_##name(void)                                                                    \
    {                                                                                                                  \
        __VA_ARGS__;                                                                                                   \
        __asm__ volatile("" ::: "memory");                                                                             \
    }

call(comm_rank, MPI_Comm_rank(MPI_COMM_WORLD, &number))
call(comm_rank_dup, MPI_Comm_rank(copy, &number))
call(wtime, seconds = MPI_Wtime())
call(error_class, MPI_Error_class(code, &number))
call(error_string, MPI_Error_string(code, text, &length))
call(add_code, MPI_Add_error_code(class, &number))
call(pvar_read, MPI_T_pvar_read(session, handle, value))
call(pvar_read_array, MPI_T_pvar_read(session, array, value))
call(test_miss, MPI_Test(requests, &flag, MPI_STATUS_IGNORE))
call(iprobe_miss, MPI_Iprobe(0, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE))
call(iprobe_hit, MPI_Iprobe(0, 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE))

__attribute__((noinline)) void one_window_out(void)
{
    for (int i = 0; i < WINDOW; i++)
        MPI_Isend(&words[i], 8, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
}

__attribute__((noinline)) void one_window_in(void)
{
    for (int i = 0; i < WINDOW; i++)
        MPI_Irecv(&words[i], 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
}

static void windows(int messages, int rank)
{
    int unit, *sent;
    MPI_Aint size;
    MPI_Win window;
    MPI_Win_allocate_shared(rank == 0 ? sizeof *sent : 0, sizeof *sent, MPI_INFO_NULL, MPI_COMM_WORLD, &sent, &window);
    MPI_Win_shared_query(window, 0, &size, &unit, &sent);
    *sent = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int done = 1; done <= messages; done++) {
        if (rank == 0) {
            one_window_out();
            __atomic_store_n(sent, done, __ATOMIC_RELEASE);
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            while (__atomic_load_n(sent, __ATOMIC_ACQUIRE) < done)
                ;
            one_window_in();
            MPI_Send(NULL, 0, MPI_BYTE, 0, 4, MPI_COMM_WORLD);
        }
    }
    MPI_Win_free(&window);
}

/* A handle of the first counter of type unsigned long long that takes no object. */
static void open_counter(void)
{
    int provided, count, variables;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_num(&variables);
    for (int i = 0; i < variables; i++) {
        int bind, kind;
        MPI_Datatype type;
        MPI_T_pvar_get_info(i, NULL, NULL, NULL, &kind, &type, NULL, NULL, NULL, &bind, NULL, NULL, NULL);
        if (kind == MPI_T_PVAR_CLASS_COUNTER && bind == MPI_T_BIND_NO_OBJECT && type == MPI_UNSIGNED_LONG_LONG &&
            MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &count) == MPI_SUCCESS && count == 1)
            break;
    }
    MPI_T_pvar_start(session, handle);
}

/* A handle of the calls of MPI_Bcast by algorithm, if the library counts them. */
static void open_array(void)
{
    int index, count;
    if (MPI_T_pvar_get_index("coll_bcast_algorithm_calls", MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS &&
        MPI_T_pvar_handle_alloc(session, index, NULL, &array, &count) == MPI_SUCCESS)
        MPI_T_pvar_start(session, array);
}

#define repeat(name)                                                                                                   \
    if (strcmp(argv[2], #name) == 0)                                                                                   \
        for (int i = 0; i < calls; i++)                                                                                \
            one_##name()

int main(int argc, char **argv)
{
    int rank, calls = argc > 2 ? atoi(argv[1]) : 0;
    MPI_Init(&argc, &argv);
    if (argc < 3)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(argv[2], "window") == 0) {
        windows(calls, rank);
        MPI_Finalize();
        return 0;
    }
    open_counter();
    open_array();
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "the text of a code that the program has added");
    MPI_Irecv(words, 8, MPI_BYTE, 0, 2, MPI_COMM_WORLD, requests);
    MPI_Request sent;
    MPI_Isend(words, 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &sent);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    one_iprobe_hit();
    repeat(comm_rank);
    repeat(comm_rank_dup);
    repeat(wtime);
    repeat(error_class);
    repeat(error_string);
    repeat(add_code);
    repeat(pvar_read);
    repeat(pvar_read_array);
    repeat(test_miss);
    repeat(iprobe_miss);
    repeat(iprobe_hit);
    MPI_Send(words, 8, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    MPI_Recv(words, 8, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_free(&copy);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
