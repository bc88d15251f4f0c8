/* MPI_F_sync_reg of module mpi_f08: makes the compiler of the program assume that the buffer was changed (MPI-5.0,
 * 19.1.17). The argument is the compiler's own descriptor, which nothing reads. */

void mpi_f_sync_reg_f08ts_(void *descriptor)
{
    (void)descriptor;
}

void pmpi_f_sync_reg_f08ts_(void *descriptor)
{
    (void)descriptor;
}
