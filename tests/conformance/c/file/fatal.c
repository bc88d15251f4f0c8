/* MPI_ERRORS_ARE_FATAL on MPI_FILE_NULL: a file that cannot be opened ends the job, and the report names it. */
#include "file/file.h"

int main(int argc, char **argv)
{
    MPI_File file;
    begin(&argc, &argv);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    MPI_File_open(MPI_COMM_WORLD, "/no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    printf("not reached\n");
    return 0;
}
