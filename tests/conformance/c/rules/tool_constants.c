/* The constants of the tool information interface: verbosity ascends, codes and all others differ from each other. */
#include "check.h"

static const int verbosity[] = {MPI_T_VERBOSITY_USER_BASIC, MPI_T_VERBOSITY_USER_DETAIL, MPI_T_VERBOSITY_USER_ALL,
                                MPI_T_VERBOSITY_TUNER_BASIC, MPI_T_VERBOSITY_TUNER_DETAIL, MPI_T_VERBOSITY_TUNER_ALL,
                                MPI_T_VERBOSITY_MPIDEV_BASIC, MPI_T_VERBOSITY_MPIDEV_DETAIL,
                                MPI_T_VERBOSITY_MPIDEV_ALL};
static const int codes[] = {MPI_T_ERR_MEMORY, MPI_T_ERR_NOT_INITIALIZED, MPI_T_ERR_CANNOT_INIT,
                            MPI_T_ERR_NOT_ACCESSIBLE, MPI_T_ERR_INVALID, MPI_T_ERR_INVALID_INDEX,
                            MPI_T_ERR_INVALID_ITEM, MPI_T_ERR_INVALID_SESSION, MPI_T_ERR_INVALID_HANDLE,
                            MPI_T_ERR_INVALID_NAME, MPI_T_ERR_OUT_OF_HANDLES, MPI_T_ERR_OUT_OF_SESSIONS,
                            MPI_T_ERR_CVAR_SET_NEVER, MPI_T_ERR_CVAR_SET_NOT_NOW, MPI_T_ERR_PVAR_NO_WRITE,
                            MPI_T_ERR_PVAR_NO_STARTSTOP, MPI_T_ERR_PVAR_NO_ATOMIC, MPI_T_ERR_NOT_SUPPORTED};
static const int binds[] = {MPI_T_BIND_NO_OBJECT, MPI_T_BIND_MPI_COMM, MPI_T_BIND_MPI_DATATYPE,
                            MPI_T_BIND_MPI_ERRHANDLER, MPI_T_BIND_MPI_FILE, MPI_T_BIND_MPI_GROUP, MPI_T_BIND_MPI_OP,
                            MPI_T_BIND_MPI_REQUEST, MPI_T_BIND_MPI_WIN, MPI_T_BIND_MPI_MESSAGE, MPI_T_BIND_MPI_INFO,
                            MPI_T_BIND_MPI_SESSION};
static const int scopes[] = {MPI_T_SCOPE_CONSTANT, MPI_T_SCOPE_READONLY, MPI_T_SCOPE_LOCAL, MPI_T_SCOPE_GROUP,
                             MPI_T_SCOPE_GROUP_EQ, MPI_T_SCOPE_ALL,      MPI_T_SCOPE_ALL_EQ};

static void all_differ(const int *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t other = 0; other < i; other++)
            check(values[i] != values[other]);
}

#define COUNT(array) (sizeof array / sizeof array[0])

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    for (size_t i = 1; i < COUNT(verbosity); i++)
        check(verbosity[i - 1] < verbosity[i]);
    all_differ(codes, COUNT(codes));
    all_differ(binds, COUNT(binds));
    all_differ(scopes, COUNT(scopes));
    /* No code of the interface is an error class of MPI. */
    for (int class = MPI_SUCCESS; class <= MPI_ERR_ABI; class++)
        for (size_t i = 0; i < COUNT(codes); i++)
            check(codes[i] != class);
    return finish();
}
