/* Errors of array sections that cannot be passed: codes with texts, made when the first one is needed. */
#include "ferrum_f08.h"
#include <pthread.h>

static const struct {
    int class;
    const char *text;
} reasons[] = {
    {MPI_ERR_BUFFER, "the buffer is an array section with gaps, and this call needs contiguous memory"},
    {MPI_ERR_TYPE, "this datatype describes no array section with gaps in a call that does not block: each element "
                   "must hold whole items of the datatype, or of the datatype of which it is a sequence"},
    {MPI_ERR_COUNT, "the array section has fewer elements than the count and the datatype describe"},
};

static int codes[sizeof reasons / sizeof *reasons];
static pthread_once_t made = PTHREAD_ONCE_INIT;

static void make(void)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (PMPI_Add_error_code(reasons[i].class, &codes[i]) != MPI_SUCCESS)
            codes[i] = reasons[i].class;
        else
            PMPI_Add_error_string(codes[i], reasons[i].text);
    }
}

/* The error code for a reason; a code of the standard is one already. */
static int code_of(int error)
{
    if (error > MPI_SUCCESS)
        return error;
    pthread_once(&made, make);
    return codes[-error - 1];
}

int ferrum_raise_comm(MPI_Comm comm, int error)
{
    error = code_of(error);
    PMPI_Comm_call_errhandler(comm, error);
    return error;
}

int ferrum_raise_win(MPI_Win win, int error)
{
    error = code_of(error);
    PMPI_Win_call_errhandler(win, error);
    return error;
}

int ferrum_raise_file(MPI_File file, int error)
{
    error = code_of(error);
    PMPI_File_call_errhandler(file, error);
    return error;
}
