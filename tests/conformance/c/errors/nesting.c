/* A handler may call MPI and handlers, also itself. One whose calls fail every time ends; each handler is called
 * again the next time, also after handlers were left by longjmp. */
#include "check.h"
#include <setjmp.h>

static int depth, deepest, calls, others;
static MPI_Comm other;
static jmp_buf outside;

static void fails(MPI_Comm *comm, int *code, ...)
{
    int word = 0;
    calls++;
    if (++depth > deepest)
        deepest = depth;
    check_class(MPI_Send(&word, 1, MPI_INT, size, 0, *comm), MPI_ERR_RANK);
    depth--;
}

static void calls_itself(MPI_Comm *comm, int *code, ...)
{
    calls++;
    if (++depth > deepest)
        deepest = depth;
    int result = MPI_Comm_call_errhandler(*comm, *code);
    check(result == MPI_SUCCESS || class_of(result) == MPI_ERR_OTHER);
    depth--;
}

static void once_more(MPI_Comm *comm, int *code, ...)
{
    calls++;
    if (*code == MPI_ERR_TAG)
        ok(MPI_Comm_call_errhandler(*comm, MPI_ERR_RANK));
    else if (*code == MPI_ERR_RANK)
        ok(MPI_Comm_call_errhandler(other, MPI_ERR_RANK));
}

static void counts(MPI_Comm *comm, int *code, ...)
{
    others++;
    check(*comm == other);
    check_equal(*code, MPI_ERR_RANK);
    /* Messages and collectives work in a handler. */
    int in = 1, out = 0;
    ok(MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF));
    check_equal(out, 1);
}

static void jumps(MPI_Comm *comm, int *code, ...)
{
    calls++;
    longjmp(outside, 1);
}

static void use(MPI_Comm comm, MPI_Comm_errhandler_function *function)
{
    MPI_Errhandler handler;
    ok(MPI_Comm_create_errhandler(function, &handler));
    ok(MPI_Comm_set_errhandler(comm, handler));
    ok(MPI_Errhandler_free(&handler));
    calls = depth = deepest = 0;
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    int word = 0;
    begin(&argc, &argv);
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    ok(MPI_Comm_dup(MPI_COMM_WORLD, &other));

    use(comm, once_more);
    use(other, counts);
    ok(MPI_Comm_call_errhandler(comm, MPI_ERR_TAG));
    check_equal(calls, 2);
    check_equal(others, 1);

    MPI_Comm_errhandler_function *endless[] = {fails, calls_itself};
    for (int i = 0; i < 2; i++) {
        use(comm, endless[i]);
        for (int again = 0; again < 3; again++) {
            check_class(MPI_Send(&word, 1, MPI_INT, size, 0, comm), MPI_ERR_RANK);
            check_equal(depth, 0);
            check(deepest > 1 && deepest <= 1000);
            check(calls >= (again + 1) * deepest);
        }
    }

    use(comm, jumps);
    for (volatile int i = 0; i < 1000; i++)
        if (setjmp(outside) == 0) {
            MPI_Send(&word, 1, MPI_INT, size, 0, comm);
            check(!"not reached");
        }
    check_equal(calls, 1000);
    use(comm, fails);
    check_class(MPI_Send(&word, 1, MPI_INT, size, 0, comm), MPI_ERR_RANK);
    check(calls > 1);
    ok(MPI_Comm_free(&comm));
    ok(MPI_Comm_free(&other));
    return finish();
}
