/* Procedures of the program that functions of C call: those of generalized requests and of data representations. The
 * extra state in C holds the procedures and the program's own extra state. */
#include "ferrum_fortran.h"

typedef void query(MPI_Aint *extra_state, MPI_Fint *status, MPI_Fint *ierror);
typedef void release(MPI_Aint *extra_state, MPI_Fint *ierror);
typedef void cancel(MPI_Aint *extra_state, MPI_Fint *complete, MPI_Fint *ierror);
typedef void extent(MPI_Fint *datatype, MPI_Aint *extent, MPI_Aint *extra_state, MPI_Fint *ierror);

int ferrum_fortran_query_0(void *extra_state, MPI_Status *status)
{
    struct ferrum_procedures *state = extra_state;
    MPI_Fint error = MPI_SUCCESS;
    ((query *)state->procedures[0])(&state->extra_state, (MPI_Fint *)status, &error);
    return error;
}

/* The last call for a request, so the state ends with it. */
int ferrum_fortran_free_1(void *extra_state)
{
    struct ferrum_procedures *state = extra_state;
    MPI_Fint error = MPI_SUCCESS;
    ((release *)state->procedures[1])(&state->extra_state, &error);
    free(state);
    return error;
}

int ferrum_fortran_cancel_2(void *extra_state, int complete)
{
    struct ferrum_procedures *state = extra_state;
    MPI_Fint error = MPI_SUCCESS, is_complete = complete != 0;
    ((cancel *)state->procedures[2])(&state->extra_state, &is_complete, &error);
    return error;
}

int ferrum_fortran_extent_2(MPI_Datatype datatype, MPI_Aint *bytes, void *extra_state)
{
    struct ferrum_procedures *state = extra_state;
    MPI_Fint error = MPI_SUCCESS, type = PMPI_Type_toint(datatype);
    ((extent *)state->procedures[2])(&type, bytes, &state->extra_state, &error);
    return error;
}

#define CONVERTS(suffix, integer)                                                                                    \
    typedef void conversion##suffix(void *userbuf, MPI_Fint *datatype, integer *count, void *filebuf,                \
        MPI_Offset *position, MPI_Aint *extra_state, MPI_Fint *ierror);                                              \
    static int convert##suffix(int place, void *userbuf, MPI_Datatype datatype, integer count, void *filebuf,        \
        MPI_Offset position, struct ferrum_procedures *state)                                                        \
    {                                                                                                                \
        MPI_Fint error = MPI_SUCCESS, type = PMPI_Type_toint(datatype);                                              \
        ((conversion##suffix *)state->procedures[place])(                                                            \
            userbuf, &type, &count, filebuf, &position, &state->extra_state, &error);                                \
        return error;                                                                                                \
    }                                                                                                                \
    int ferrum_fortran_conversion##suffix##_0(void *userbuf, MPI_Datatype datatype, integer count, void *filebuf,    \
        MPI_Offset position, void *extra_state)                                                                      \
    {                                                                                                                \
        return convert##suffix(0, userbuf, datatype, count, filebuf, position, extra_state);                         \
    }                                                                                                                \
    int ferrum_fortran_conversion##suffix##_1(void *userbuf, MPI_Datatype datatype, integer count, void *filebuf,    \
        MPI_Offset position, void *extra_state)                                                                      \
    {                                                                                                                \
        return convert##suffix(1, userbuf, datatype, count, filebuf, position, extra_state);                         \
    }

CONVERTS(, MPI_Fint)
CONVERTS(_c, MPI_Count)
