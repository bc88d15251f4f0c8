/* A tool in C that reads each attribute which the program sets, at once: the value of one that Fortran has set is the
 * address of an integer from the first moment on (MPI-5.0, 19.3.7). It sets another attribute before. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

static int set, right;

int MPI_Comm_set_attr(MPI_Comm comm, int keyval, void *value)
{
    static int own = MPI_KEYVAL_INVALID;
    void *found = NULL;
    int flag = 0, error;
    if (own == MPI_KEYVAL_INVALID)
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &own, NULL);
    PMPI_Comm_set_attr(comm, own, &set);
    error = PMPI_Comm_set_attr(comm, keyval, value);
    if (error != MPI_SUCCESS)
        return error;
    set++;
    PMPI_Comm_get_attr(comm, keyval, &found, &flag);
    right += flag && found != value && (uintptr_t)found > 4096 && *(MPI_Aint *)found == (MPI_Aint)value;
    PMPI_Comm_get_attr(comm, own, &found, &flag);
    right -= !(flag && found == &set);
    PMPI_Comm_delete_attr(comm, own);
    return MPI_SUCCESS;
}

int MPI_Finalize(void)
{
    fprintf(stderr, "values: %s\n", set > 0 && set == right ? "right" : "wrong");
    return PMPI_Finalize();
}
