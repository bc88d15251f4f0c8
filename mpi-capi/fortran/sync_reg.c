/* MPI_F_SYNC_REG: makes the compiler of the program assume that the buffer was changed (MPI-5.0, 19.1.17). */

void ferrum_mpi_f_sync_reg_(void *buffer)
{
    (void)buffer;
}

void pmpi_f_sync_reg_(void *buffer)
{
    (void)buffer;
}

void mpi_f_sync_reg_(void *buffer) __attribute__((weak, alias("ferrum_mpi_f_sync_reg_")));
