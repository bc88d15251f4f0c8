/* The C side of f90/interop.f90: what one language has made, the other uses (MPI-5.0, 19.3). */
#include <mpi.h>

static int copies, deletes;
static void *seen;

/* The value of an attribute that Fortran has set: C gets its address. */
void c_reads_attribute_(MPI_Fint *comm, MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *flag)
{
    MPI_Aint *place = 0;
    int found = 0;
    MPI_Comm_get_attr(MPI_Comm_f2c(*comm), *keyval, &place, &found);
    *flag = found;
    *value = found ? *place : 0;
}

/* As it is for the older attributes, whose values are ints. */
void c_reads_integer_(MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *value)
{
    int *place = 0, found = 0;
    MPI_Comm_get_attr(MPI_Comm_fromint(*comm), *keyval, &place, &found);
    *value = found ? *place : -1;
}

/* C sets an address, which Fortran gets as an integer. */
void c_sets_attribute_(MPI_Fint *comm, MPI_Fint *keyval, MPI_Aint *address)
{
    static int target;
    MPI_Comm_set_attr(MPI_Comm_f2c(*comm), *keyval, &target);
    *address = (MPI_Aint)&target;
}

static int copy(MPI_Comm comm, int keyval, void *state, void *value, void *new_value, int *flag)
{
    (void)comm, (void)keyval, (void)state;
    copies++;
    seen = value;
    *(void **)new_value = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int keyval, void *value, void *state)
{
    (void)comm, (void)keyval, (void)state;
    deletes++;
    seen = value;
    return MPI_SUCCESS;
}

/* A key with callbacks in C. */
void c_makes_key_(MPI_Fint *keyval)
{
    MPI_Comm_create_keyval(copy, delete, keyval, 0);
}

/* The calls of the callbacks, and the number at the address that the last one got. */
void c_has_seen_(MPI_Fint *number_of_copies, MPI_Fint *number_of_deletes, MPI_Aint *value)
{
    *number_of_copies = copies;
    *number_of_deletes = deletes;
    *value = seen ? *(MPI_Aint *)seen : 0;
}

/* Calls the error handler, which is in Fortran. */
void c_calls_handler_(MPI_Fint *comm, MPI_Fint *code)
{
    MPI_Comm_call_errhandler(MPI_Comm_f2c(*comm), *code);
}

/* Reduces with an operation that is in Fortran. */
void c_reduces_(MPI_Fint *op, MPI_Fint *in, MPI_Fint *inout, MPI_Fint *count)
{
    MPI_Reduce_local(in, inout, *count, MPI_INTEGER, MPI_Op_f2c(*op));
}

/* Receives with a datatype and a communicator of Fortran, and returns the status in Fortran's form. */
void c_receives_(MPI_Fint *buffer, MPI_Fint *datatype, MPI_Fint *comm, MPI_Fint *f_status)
{
    MPI_Status status;
    MPI_Recv(buffer, 1, MPI_Type_f2c(*datatype), MPI_ANY_SOURCE, 9, MPI_Comm_f2c(*comm), &status);
    MPI_Status_c2f(&status, f_status);
}

/* Starts a request that Fortran completes. */
void c_sends_(MPI_Fint *buffer, MPI_Fint *request)
{
    MPI_Request sent;
    MPI_Isend(buffer, 1, MPI_INTEGER, 0, 9, MPI_COMM_SELF, &sent);
    *request = MPI_Request_c2f(sent);
}
