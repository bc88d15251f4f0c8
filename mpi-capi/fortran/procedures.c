/* The predefined callbacks as procedures of Fortran, which programs pass and may call (MPI-5.0, 7.7). The library
 * recognises their addresses and uses the constants of C. */
#include "ferrum_fortran.h"

#define COPIES(name, type, copied)                                                                                   \
    void name(MPI_Fint *object, MPI_Fint *keyval, type *extra_state, type *value, type *copy, MPI_Fint *flag,        \
        MPI_Fint *ierror)                                                                                            \
    {                                                                                                                \
        (void)object, (void)keyval, (void)extra_state;                                                               \
        if (copied)                                                                                                  \
            *copy = *value;                                                                                          \
        *flag = copied;                                                                                              \
        *ierror = MPI_SUCCESS;                                                                                       \
    }
#define DELETES(name, type)                                                                                          \
    void name(MPI_Fint *object, MPI_Fint *keyval, type *value, type *extra_state, MPI_Fint *ierror)                  \
    {                                                                                                                \
        (void)object, (void)keyval, (void)value, (void)extra_state;                                                  \
        *ierror = MPI_SUCCESS;                                                                                       \
    }
#define CONVERTS(name, integer)                                                                                      \
    void name(void *userbuf, MPI_Fint *datatype, integer *count, void *filebuf, MPI_Offset *position,                \
        MPI_Aint *extra_state, MPI_Fint *ierror)                                                                     \
    {                                                                                                                \
        (void)userbuf, (void)datatype, (void)count, (void)filebuf, (void)position, (void)extra_state;                \
        *ierror = MPI_ERR_CONVERSION;                                                                                \
    }

COPIES(mpi_null_copy_fn_, MPI_Fint, 0)
COPIES(mpi_dup_fn_, MPI_Fint, 1)
DELETES(mpi_null_delete_fn_, MPI_Fint)
COPIES(mpi_comm_null_copy_fn_, MPI_Aint, 0)
COPIES(mpi_comm_dup_fn_, MPI_Aint, 1)
DELETES(mpi_comm_null_delete_fn_, MPI_Aint)
COPIES(mpi_type_null_copy_fn_, MPI_Aint, 0)
COPIES(mpi_type_dup_fn_, MPI_Aint, 1)
DELETES(mpi_type_null_delete_fn_, MPI_Aint)
COPIES(mpi_win_null_copy_fn_, MPI_Aint, 0)
COPIES(mpi_win_dup_fn_, MPI_Aint, 1)
DELETES(mpi_win_null_delete_fn_, MPI_Aint)
CONVERTS(mpi_conversion_fn_null_, MPI_Fint)
CONVERTS(mpi_conversion_fn_null_c_, MPI_Count)
