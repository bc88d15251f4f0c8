! A tool in Fortran: it defines specific procedures of module mpi_f08 and calls their other names.
SUBROUTINE MPI_Send_f08ts(buf, count, datatype, dest, tag, comm, ierror)
  USE mpi_f08, ONLY: MPI_Datatype, MPI_Comm, PMPI_Send
  IMPLICIT NONE
  TYPE(*), DIMENSION(..), INTENT(IN) :: buf
  INTEGER, INTENT(IN) :: count, dest, tag
  TYPE(MPI_Datatype), INTENT(IN) :: datatype
  TYPE(MPI_Comm), INTENT(IN) :: comm
  INTEGER, OPTIONAL, INTENT(OUT) :: ierror
  INTEGER :: calls, sent, barriers
  COMMON /counted/ calls, sent, barriers
  calls = calls + 1
  sent = sent + count
  CALL PMPI_Send(buf, count, datatype, dest, tag, comm, ierror)
END SUBROUTINE MPI_Send_f08ts

SUBROUTINE MPI_Barrier_f08(comm, ierror)
  USE mpi_f08, ONLY: MPI_Comm, PMPI_Barrier
  IMPLICIT NONE
  TYPE(MPI_Comm), INTENT(IN) :: comm
  INTEGER, OPTIONAL, INTENT(OUT) :: ierror
  INTEGER :: calls, sent, barriers
  COMMON /counted/ calls, sent, barriers
  barriers = barriers + 1
  CALL PMPI_Barrier(comm, ierror)
END SUBROUTINE MPI_Barrier_f08
