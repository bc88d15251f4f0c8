! A tool in Fortran: it defines MPI_SEND and calls PMPI_SEND. The program's other calls do not reach it.
SUBROUTINE MPI_SEND(buf, count, datatype, dest, tag, comm, ierror)
  IMPLICIT NONE
  INTEGER :: buf(*), count, datatype, dest, tag, comm, ierror
  INTEGER :: calls, sent
  COMMON /counted/ calls, sent
  calls = calls + 1
  sent = sent + count
  CALL PMPI_SEND(buf, count, datatype, dest, tag, comm, ierror)
END SUBROUTINE MPI_SEND
