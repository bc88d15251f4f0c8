/* A child of fork is not in the job: each call returns an error, or ends the child alone if errors are fatal, and
 * the parent continues. */
#include "../tool/tool.h"
#include <sys/wait.h>
#include <unistd.h>

static MPI_T_pvar_session session;
static MPI_T_pvar_handle handle;

static void calls_are_refused(void)
{
    int flag = -1, number = -1, provided = -1, length, code, word = 7;
    unsigned long long value = 0;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Info info;
    MPI_Session other;
    ok(MPI_Initialized(&flag));
    check_equal(flag, 0);
    ok(MPI_Finalized(&flag));
    check_equal(flag, 0);
    check_class(MPI_Send(&word, 1, MPI_INT, (rank + 1) % size, 99, MPI_COMM_WORLD), MPI_ERR_OTHER);
    check_class(MPI_Barrier(MPI_COMM_WORLD), MPI_ERR_OTHER);
    code = MPI_Comm_rank(MPI_COMM_WORLD, &number);
    check_class(code, MPI_ERR_OTHER);
    ok(MPI_Error_string(code, text, &length));
    check(strstr(text, "fork") != NULL);
    check_class(MPI_Init(NULL, NULL), MPI_ERR_OTHER);
    check_class(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided), MPI_ERR_OTHER);
    check_class(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other), MPI_ERR_OTHER);
    check_class(MPI_Info_create(&info), MPI_ERR_OTHER);
    check_class(MPI_Finalize(), MPI_ERR_OTHER);
    check_equal(MPI_T_pvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    check_equal(MPI_T_pvar_read(session, handle, &value), MPI_T_ERR_NOT_INITIALIZED);
    check_equal(MPI_T_pvar_reset(session, handle), MPI_T_ERR_NOT_INITIALIZED);
    check_equal(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_T_ERR_CANNOT_INIT);
    check_equal(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    check(MPI_Wtime() > 0);
}

/* The exit status of a child that calls this function. */
static int child(void (*what)(void))
{
    int status = -1;
    fflush(NULL);
    pid_t made = fork();
    if (made == 0) {
        what();
        exit(wrong != 0);
    }
    check(made > 0 && waitpid(made, &status, 0) == made);
    check(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void end_by_an_error(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    exit(0);
}

static void end_like_any_program(void)
{
}

int main(int argc, char **argv)
{
    int value = -1;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    handle = watch(session, "p2p_messages_received", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_WORLD);
    check_equal(child(end_like_any_program), 0);
    check_equal(child(end_by_an_error), MPI_ERR_OTHER);
    return_errors();
    check_equal(child(calls_are_refused), 0);
    for (int i = 0; i < 100; i++) {
        int next = (rank + 1) % size, last = (rank + size - 1) % size;
        ok(MPI_Sendrecv(&i, 1, MPI_INT, next, 5, &value, 1, MPI_INT, last, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        check_equal(value, i);
    }
    check(read_pvar(session, handle) >= 100);
    ok(MPI_T_pvar_session_free(&session));
    ok(MPI_T_finalize());
    return finish();
}
