/* The uses of a predefined datatype since its handle was started agree with the program's calls, whichever other
 * datatypes have handles; the program's own datatypes count with and without a handle. */
#include "bound.h"

static const char name[] = "objects_datatype_uses";
static MPI_T_pvar_session session;

/* Uses of each type below, counted by the program. */
static unsigned long long ints, doubles, own_uses;
static MPI_Datatype own;

static void traffic(int calls)
{
    int number = 0, to = (rank + 1) % size, from = (rank + size - 1) % size, elements;
    double real = 0;
    char byte = 0;
    MPI_Status status;
    for (int i = 0; i < calls; i++) {
        ok(MPI_Sendrecv(&number, 1, MPI_INT, to, 1, &real, 1, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, &status));
        ok(MPI_Get_count(&status, MPI_INT, &elements));
        ok(MPI_Bcast(&byte, 1, MPI_BYTE, 0, MPI_COMM_WORLD));
        ok(MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        ok(MPI_Bcast(&number, 1, own, 0, MPI_COMM_WORLD));
        ints += 3, doubles++, own_uses++;
    }
}

static void check_uses(MPI_T_pvar_handle handle, unsigned long long expected)
{
    check_equal(read_pvar(session, handle), expected);
}

int main(int argc, char **argv)
{
    MPI_Datatype type_int = MPI_INT, type_double = MPI_DOUBLE, unused = MPI_FLOAT, byte = MPI_BYTE;
    MPI_Datatype null = MPI_DATATYPE_NULL;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    ok(MPI_Type_dup(MPI_INT, &own));
    traffic(3);

    /* Uses before the handle are not counted. */
    MPI_T_pvar_handle of_int = watch_object(session, name, MPI_T_PVAR_CLASS_COUNTER, &type_int);
    MPI_T_pvar_handle of_own = watch_object(session, name, MPI_T_PVAR_CLASS_COUNTER, &own);
    check_uses(of_int, 0);
    ints = doubles = own_uses = 0;
    traffic(10);
    check_uses(of_int, ints);
    check_uses(of_own, own_uses);

    /* A second type, with a handle from later on; a third one without uses. */
    MPI_T_pvar_handle of_double = watch_object(session, name, MPI_T_PVAR_CLASS_COUNTER, &type_double);
    MPI_T_pvar_handle of_unused = watch_object(session, name, MPI_T_PVAR_CLASS_COUNTER, &unused);
    doubles = 0;
    traffic(7);
    check_uses(of_int, ints);
    check_uses(of_double, doubles);
    check_uses(of_unused, 0);

    /* A stopped handle keeps its value; a started one counts on. */
    unsigned long long before = ints;
    ok(MPI_T_pvar_stop(session, of_int));
    traffic(2);
    check_uses(of_int, before);
    ok(MPI_T_pvar_start(session, of_int));
    ints = before;
    traffic(1);
    check_uses(of_int, ints);

    /* Without a handle of a predefined type nothing is counted; a new handle begins at 0. */
    ok(MPI_T_pvar_handle_free(session, &of_int));
    ok(MPI_T_pvar_handle_free(session, &of_double));
    ok(MPI_T_pvar_handle_free(session, &of_unused));
    traffic(4);
    check_uses(of_own, own_uses);
    of_int = watch_object(session, name, MPI_T_PVAR_CLASS_COUNTER, &type_int);
    MPI_T_pvar_handle of_byte = watch_object(session, name, MPI_T_PVAR_CLASS_COUNTER, &byte);
    check_uses(of_int, 0);
    ints = 0;
    traffic(5);
    check_uses(of_int, ints);
    check_uses(of_byte, 5);

    ok(MPI_Type_free(&own));
    check_ended(session, of_own);
    refuse_object(session, name, MPI_T_PVAR_CLASS_COUNTER, &null);
    refuse_object(session, name, MPI_T_PVAR_CLASS_COUNTER, NULL);
    ok(MPI_T_pvar_session_free(&session));
    ok(MPI_T_finalize());
    return finish();
}
